/**
 * Libraries of server-side functions (FUNCTION LOAD, Redis ≥ 7.0).
 *
 * Functions, and not EVAL: a library is replicated and saved with the data, and it can remember
 * something for as long as it stays loaded, which is what feeds build their epoch on. The name of a
 * library and of each function carries a hash of the source, so that two versions of the program
 * can share a server during a rolling upgrade, each calling its own.
 */
import { createHash } from 'node:crypto'

export interface FunctionLibrary<Name extends string = string> {
  readonly source: string
  /** The name under which the server knows a function. */
  readonly functions: Readonly<Record<Name, string>>
}

/** `body` defines one Lua function for each of `names` and must not register them itself. */
export const defineLibrary = <const Name extends string>(
  library: string,
  names: readonly Name[],
  body: string,
): FunctionLibrary<Name> => {
  const version = createHash('sha256').update(body).digest('hex').slice(0, 10)
  const full = (name: string): string => `tributary_${library}_${name}_${version}`
  const registrations = names.map((name) => `redis.register_function('${full(name)}', ${name})`)
  return {
    source: [`#!lua name=${full('library')}`, body, ...registrations].join('\n'),
    functions: Object.fromEntries(names.map((name) => [name, full(name)])) as Record<Name, string>,
  }
}
