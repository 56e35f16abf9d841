/** Follows up what a process decided and did not live to follow up itself. */
import { defineTick } from './kit.ts'

export const repair = defineTick({
  name: 'repair',
  role: 'repair',
  everyMs: 10_000,
  run: async ({ services, signal }) => void (await services.pending.sweep(signal)),
})
