/** A secret that nobody configured is the same for all processes, for good. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { serverSecret } from '../../services/platform/server-secret.ts'
import { ManualClock } from '../kit/manual-clock.ts'
import type { OpenedTables, OpenTables } from '../kit/open-tables.ts'

export const serverSecretContract = (open: OpenTables): void => {
  let opened: OpenedTables
  beforeAll(async () => {
    opened = await open()
  })
  afterAll(() => opened?.[Symbol.asyncDispose]())

  const ask = (name: string) =>
    serverSecret({ tables: opened.tables, clock: new ManualClock() }, name)

  test('processes that start at the same time agree on one secret, and it stays', async () => {
    const name = randomUUID()
    const [first, ...others] = await Promise.all([ask(name), ask(name), ask(name), ask(name)])
    for (const other of [...others, await ask(name)]) expect(other).toEqual(first)
    expect(first).toHaveLength(32)
  })

  test('each name has a secret of its own', async () => {
    expect(await ask(randomUUID())).not.toEqual(await ask(randomUUID()))
  })
}
