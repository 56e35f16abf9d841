import { afterAll, describe } from 'vitest'
import type { Log } from '../../services/platform/log.ts'
import { type EngineName, engines, requireStack } from '../kit/engines.ts'
import { EmbeddedLogs, freshTopic, KafkaLogs } from '../kit/log-engines.ts'
import { type LogWorld, logContract } from './log.contract.ts'
import { consumerContract } from './log-consumers.contract.ts'

/** The log alone, with the store it stands on closed after it. */
const owning = (log: Log, close: () => Promise<void>): Log =>
  new Proxy(log, {
    get: (target, name) => {
      if (name === Symbol.asyncDispose) return close
      const member: unknown = Reflect.get(target, name, target)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })

const openWorld = (engine: EngineName): LogWorld & AsyncDisposable => {
  if (engine === 'embedded') {
    const logs = new EmbeddedLogs()
    return {
      open: () => {
        const opened = logs.open()
        return Promise.resolve(owning(opened.log, () => opened[Symbol.asyncDispose]()))
      },
      topic: (partitions) => Promise.resolve(freshTopic(partitions)),
      [Symbol.asyncDispose]: () => logs[Symbol.asyncDispose](),
    }
  }
  const logs = new KafkaLogs(requireStack().kafka.brokers)
  return {
    open: () => logs.open(),
    topic: (partitions) => logs.topic(partitions),
    [Symbol.asyncDispose]: () => logs[Symbol.asyncDispose](),
  }
}

for (const engine of engines) {
  describe(`log on ${engine}`, () => {
    const world = openWorld(engine)
    afterAll(() => world[Symbol.asyncDispose]())
    logContract(world)
    consumerContract(world)
  })
}
