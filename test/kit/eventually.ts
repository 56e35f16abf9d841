/** Waits for a condition, never for a time: polls until `check` stops throwing or the deadline. */
export const eventually = async <Result>(
  check: () => Result | Promise<Result>,
  deadlineMs = 30_000,
): Promise<Result> => {
  const deadline = performance.now() + deadlineMs
  for (;;) {
    try {
      return await check()
    } catch (error) {
      if (performance.now() > deadline) throw error
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
}

/** A promise and its ends, to hold something until a test lets go. */
export const gate = (): { readonly opened: Promise<void>; open(): void } => {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}
