/** The hash slot of a key, as Redis Cluster computes it: CRC16 (XMODEM) of its tag, of 16,384. */
const SLOTS = 16_384

const table = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1
  return crc & 0xffff
})

/** What is hashed: the text between the first `{` and the next `}`, unless that is empty. */
const tagOf = (key: string): string => {
  const open = key.indexOf('{')
  const close = open < 0 ? -1 : key.indexOf('}', open + 1)
  return close > open + 1 ? key.slice(open + 1, close) : key
}

export const keySlot = (key: string): number => {
  let crc = 0
  for (const byte of Buffer.from(tagOf(key))) {
    crc = ((crc << 8) & 0xffff) ^ (table[(crc >> 8) ^ byte] ?? 0)
  }
  return crc % SLOTS
}
