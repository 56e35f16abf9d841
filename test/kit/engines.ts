/**
 * Which engines a test runs on. `embedded` always; `cluster` when `npm run stack -- up` has left its
 * addresses and its processes live. With TRIBUTARY_REQUIRE_CLUSTER=1 a missing stack is a failure.
 */
import { type Address, readStack, type StackAddresses } from '../../scripts/stack/control.ts'

export type { Address, StackAddresses }

export const stack: StackAddresses | undefined = readStack()

if (!stack && process.env['TRIBUTARY_REQUIRE_CLUSTER'] === '1') {
  throw new Error('TRIBUTARY_REQUIRE_CLUSTER=1, but no stack is up: npm run stack -- up')
}

export type EngineName = 'embedded' | 'cluster'

export const engines: readonly EngineName[] = stack ? ['embedded', 'cluster'] : ['embedded']

/** The stack, for code that runs only on the cluster engine. */
export const requireStack = (): StackAddresses => {
  if (!stack) throw new Error('this test needs the stack: npm run stack -- up')
  return stack
}
