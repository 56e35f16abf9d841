/** A cache that does not answer while a test says so. */
import { type Cache, CacheUnavailableError } from '../../services/platform/cache.ts'

export interface FailingCache {
  readonly cache: Cache
  fail(failing: boolean): void
}

export const failingCache = (cache: Cache): FailingCache => {
  let failing = false
  const answering = new Proxy(cache, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function') return member
      return async (...args: unknown[]): Promise<unknown> => {
        if (failing) throw new CacheUnavailableError('the cache does not answer')
        return await Reflect.apply(member, target, args)
      }
    },
  })
  return {
    cache: answering,
    fail: (next) => {
      failing = next
    },
  }
}
