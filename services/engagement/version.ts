/**
 * The version of a change: above the one it was made upon, and odd when it turns on, even when it turns
 * off.
 *
 * Usually it is the new id. Where the state read is newer than that, because another server's clock is
 * ahead, it is the next number; and then two who change one state at the same time may choose the same.
 * By its parity equal versions say the same, so the row and the count of what they say cannot differ.
 */
export const versionAfter = (
  id: bigint,
  { current = 0n, isOn }: { readonly current?: bigint | undefined; readonly isOn: boolean },
): bigint => {
  const least = current < id ? id : current + 1n
  return isOdd(least) === isOn ? least : least + 1n
}

const isOdd = (version: bigint): boolean => version % 2n === 1n
