/** Waits until an assertion holds; fails as it does when it never comes true. */
import { eventually } from './eventually.ts'

export const holds = async (
  assertion: () => void | Promise<void>,
  withinMs = 15_000,
): Promise<void> => {
  await eventually(
    async () => {
      await assertion()
      return true
    },
    { withinMs },
  )
}
