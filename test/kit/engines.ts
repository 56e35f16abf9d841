/**
 * Which engines a test runs on. `embedded` always; `cluster` when `npm run stack -- up` has left its
 * addresses and its processes live. With TRIBUTARY_REQUIRE_CLUSTER=1 a missing stack is a failure.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Address {
  readonly host: string
  readonly port: number
}

export interface StackAddresses {
  readonly redis: Address
  readonly cassandra: Address & { readonly dataCenter: string }
  readonly kafka: { readonly brokers: readonly string[] }
  readonly ring?: readonly Address[]
}

export const stackFolder = process.env['TRIBUTARY_STACK_DIR'] ?? '.stack'

const readStack = (): StackAddresses | undefined => {
  try {
    return JSON.parse(readFileSync(join(stackFolder, 'stack.json'), 'utf8')) as StackAddresses
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

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
