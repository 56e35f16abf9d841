import { type Log, LogUnavailableError } from '../../services/platform/log.ts'

/** A log that takes nothing while it is shut. */
export const shutter = (log: Log): { log: Log; shut: boolean } => {
  const state = { log, shut: false }
  state.log = new Proxy(log, {
    get: (target, name) => {
      if (name === 'append' && state.shut) {
        return () => Promise.reject(new LogUnavailableError('the test has shut the log'))
      }
      const member: unknown = Reflect.get(target, name, target)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
  return state
}
