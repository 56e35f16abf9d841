/** Tables while Cassandra dies and comes back, and while clocks and processes disagree. */
import { randomUUID } from 'node:crypto'
import { appendFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  ConflictError,
  DomainError,
  OutcomeUnknownError,
  OverloadedError,
} from '../../services/kernel/errors.ts'
import {
  checkMigrated,
  migrate,
  NotMigratedError,
} from '../../services/platform/cluster/migrations.ts'
import { put, remove, type Tables, TablesUnavailableError } from '../../services/platform/tables.ts'
import { byName, samples, versions } from '../contract/tables-fixture.ts'
import { stack } from '../kit/engines.ts'
import { eventually } from '../kit/eventually.ts'
import { borrowKeyspace, dropKeyspace, freshKeyspaceName, type Keyspace } from '../kit/keyspace.ts'
import { PrivateCassandra } from '../kit/private-cassandra.ts'

const SKEW_MS = 10_000

describe.skipIf(!stack)('two table adapters whose clocks differ by 10 s', () => {
  let keyspace: Keyspace
  let ahead: Tables
  let behind: Tables
  beforeAll(async () => {
    keyspace = await borrowKeyspace()
    ahead = await keyspace.open({ nowMs: () => Date.now() + SKEW_MS })
    behind = await keyspace.open()
  })
  afterAll(async () => {
    await ahead?.[Symbol.asyncDispose]()
    await behind?.[Symbol.asyncDispose]()
    await keyspace?.[Symbol.asyncDispose]()
  })

  test.each(['get', 'getMany', 'slice'] as const)(
    'a write made after a %s wins over what was read',
    async (reading) => {
      const key = { scope: randomUUID(), name: 'n' }
      const fresh = await keyspace.open()
      await ahead.write([put(byName, { ...key, value: 'ahead' })])
      if (reading === 'get') await fresh.get(byName, key)
      if (reading === 'getMany') await fresh.getMany(byName, [key])
      if (reading === 'slice') await fresh.slice(byName, { scope: key.scope }, { limit: 1 })
      await fresh.write([put(byName, { ...key, value: 'behind' })])
      await fresh[Symbol.asyncDispose]()
      expect(await ahead.get(byName, key)).toMatchObject({ value: 'behind' })
    },
  )

  test('a removal made after a read removes what was read', async () => {
    const key = { scope: randomUUID(), name: 'n' }
    await ahead.write([put(byName, { ...key, value: 'ahead' })])
    await behind.get(byName, key)
    await behind.write([remove(byName, key)])
    expect(await ahead.get(byName, key)).toBeUndefined()
  })

  test('one column written after a read wins, the others stay', async () => {
    const key = { owner: randomUUID(), shard: 1 }
    await ahead.write([put(samples, { ...key, whole: 1, plainText: 'ahead' })])
    await behind.get(samples, key)
    await behind.write([put(samples, { ...key, whole: 2 })])
    expect(await ahead.get(samples, key)).toMatchObject({ whole: 2, plainText: 'ahead' })
  })

  test('readers and writers that take turns never lose a turn', async () => {
    const key = { owner: randomUUID(), shard: 1 }
    for (let turn = 1; turn <= 20; turn += 1) {
      const tables = turn % 2 === 0 ? behind : ahead
      const row = await tables.get(samples, key)
      expect(row?.whole ?? 0).toBe(turn - 1)
      await tables.write([put(samples, { ...key, whole: turn })])
    }
  })
})

describe.skipIf(!stack)('migrations', () => {
  test('of two processes that migrate at once one applies the files, and both succeed', async () => {
    await using keyspace = await borrowKeyspace()
    const options = { ...keyspace.options, keyspace: freshKeyspaceName() }
    const said: string[] = []
    const progress = (text: string): void => void said.push(text)
    await expect(checkMigrated(options)).rejects.toThrow(/run `tributary migrate`/)
    const applied = await Promise.all([
      migrate({ ...options, progress }),
      migrate({ ...options, progress }),
    ])
    const files = readdirSync(options.folder).length
    expect(applied.sort((a, b) => a - b)).toEqual([0, files])
    expect(said.filter((text) => text.includes('applying')).length).toBe(files)
    await checkMigrated(options)
    expect(await migrate(options)).toBe(0)
    await dropKeyspace(options)
  })

  test('a changed file that was applied is refused, a new one is asked for and applied', async () => {
    await using keyspace = await borrowKeyspace()
    const { options } = keyspace
    const next = `${String(readdirSync(options.folder).length + 1).padStart(4, '0')}-more.cql`
    writeFileSync(join(options.folder, next), 'ALTER TABLE suite_by_name ADD colour text;\n')
    await expect(checkMigrated(options)).rejects.toBeInstanceOf(NotMigratedError)
    expect(await migrate(options)).toBe(1)
    await checkMigrated(options)
    appendFileSync(join(options.folder, next), '-- a change\n')
    await expect(migrate(options)).rejects.toBeInstanceOf(ConflictError)
    await expect(checkMigrated(options)).rejects.toBeInstanceOf(ConflictError)
  })

  test('a file that was interrupted half way is applied from its start', async () => {
    await using keyspace = await borrowKeyspace()
    const { options } = keyspace
    const next = `${String(readdirSync(options.folder).length + 1).padStart(4, '0')}-half.cql`
    const table = 'CREATE TABLE halfway (\n  id int,\n  note text,\n  PRIMARY KEY ((id))\n);\n'
    writeFileSync(join(options.folder, next), `${table}ALTER TABLE nowhere ADD colour text;\n`)
    await expect(migrate(options)).rejects.toThrow(/nowhere/)
    writeFileSync(join(options.folder, next), `${table}ALTER TABLE halfway ADD colour text;\n`)
    expect(await migrate(options)).toBe(1)
    rmSync(join(options.folder, next))
  })
})

describe.skipIf(!stack)('bounds', () => {
  test('requests beyond the limit are refused at once, and those under way finish', async () => {
    await using keyspace = await borrowKeyspace({ settings: { inFlightMax: 10 } })
    await using tables = await keyspace.open()
    const scope = randomUUID()
    const names = Array.from({ length: 50 }, (_none, n) => `${n}`)
    const outcomes = await Promise.allSettled(
      names.map((name) => tables.write([put(byName, { scope, name, value: 'v' })])),
    )
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
    expect(refused).toHaveLength(40)
    for (const { reason } of refused) expect(reason).toBeInstanceOf(OverloadedError)
    expect(await tables.slice(byName, { scope }, { limit: 100 })).toHaveLength(10)
  })
})

describe.skipIf(!stack)('a Cassandra that is killed in the middle of a run', () => {
  let cassandra: PrivateCassandra
  let keyspace: Keyspace
  beforeAll(async () => {
    cassandra = await PrivateCassandra.open(6100)
    keyspace = await borrowKeyspace({
      cassandra: cassandra.address,
      settings: { requestTimeoutMs: 2_000 },
    })
  }, 240_000)
  afterAll(async () => {
    await cassandra[Symbol.asyncDispose]()
  }, 60_000)

  test('no acknowledged write is missing, and the adapter goes on by itself', async () => {
    await using tables = await keyspace.open()
    const scope = randomUUID()
    const acknowledged = new Set<string>()
    const failures: DomainError[] = []
    const stop = new AbortController()
    const writers = Array.from({ length: 16 }, async (_none, writer) => {
      for (let n = 0; !stop.signal.aborted; n += 1) {
        const name = `${writer}-${n}`
        try {
          await tables.write([put(byName, { scope, name, value: name })])
          acknowledged.add(name)
        } catch (error) {
          if (!(error instanceof DomainError)) throw error
          failures.push(error)
          await new Promise((resolve) => setTimeout(resolve, 50))
        }
      }
    })
    await eventually(() => acknowledged.size > 500, { withinMs: 60_000 })
    await cassandra.kill()
    await eventually(() => failures.length > 16, { withinMs: 60_000 })
    const beforeRestart = acknowledged.size
    await cassandra.start()
    await eventually(() => acknowledged.size > beforeRestart + 500, { withinMs: 60_000 })
    stop.abort()
    await Promise.all(writers)
    const names = [...acknowledged]
    for (let from = 0; from < names.length; from += 1000) {
      const part = names.slice(from, from + 1000)
      const rows = await tables.getMany(
        byName,
        part.map((name) => ({ scope, name })),
      )
      expect(rows.map((row) => row?.value)).toEqual(part)
    }
    const kinds = [OutcomeUnknownError, TablesUnavailableError]
    const others = failures.filter((error) => !kinds.some((kind) => error instanceof kind))
    expect(others).toEqual([])
  }, 300_000)

  test('conditional writes count once each, whatever was lost on the way', async () => {
    await using tables = await keyspace.open()
    const name = randomUUID()
    await tables.insertIfAbsent(versions, { name, version: 0n, writer: 'first', note: '' })
    const stop = new AbortController()
    let sure = 0
    let unsure = 0
    const count = async (writer: string): Promise<void> => {
      while (!stop.signal.aborted) {
        try {
          const row = await tables.get(versions, { name }, { serial: true })
          const version = row?.version ?? 0n
          const swap = {
            expected: { version },
            next: { version: version + 1n, writer: `${writer}/${version}` },
          }
          const outcome = await tables.compareAndSet(versions, { name }, swap)
          if (outcome.applied) sure += 1
        } catch (error) {
          if (!(error instanceof DomainError)) throw error
          if (error instanceof OutcomeUnknownError) unsure += 1
          else expect(error).toBeInstanceOf(TablesUnavailableError)
          await new Promise((resolve) => setTimeout(resolve, 50))
        }
      }
    }
    const counting = ['a', 'b', 'c'].map(count)
    await eventually(() => sure > 30, { withinMs: 60_000 })
    await cassandra.kill()
    await cassandra.start()
    const beforeRestart = sure
    await eventually(() => sure > beforeRestart + 30, { withinMs: 60_000 })
    stop.abort()
    await Promise.all(counting)
    const row = await tables.get(versions, { name }, { serial: true })
    const counted = Number(row?.version)
    expect(counted).toBeGreaterThanOrEqual(sure)
    expect(counted).toBeLessThanOrEqual(sure + unsure)
  }, 300_000)
})
