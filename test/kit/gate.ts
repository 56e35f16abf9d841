/** Holds something until a test lets go. */
export interface Gate {
  readonly opened: Promise<void>
  open(): void
}

export const gate = (): Gate => {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}
