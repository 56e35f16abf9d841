import { describe, expect, test } from 'vitest'
import { incompatibilities, snapshot } from '../../services/kernel/event-compatibility.ts'
import {
  catalogue,
  decodeEvent,
  type EventType,
  encodeEvent,
  isA,
  makeEvent,
  SettingChanged,
  topics,
  UnknownEventError,
} from '../../services/kernel/events.ts'
import type { EventId } from '../../services/kernel/ids.ts'
import { firstIdAt } from '../../services/kernel/ids.ts'

const at = Date.UTC(2026, 0, 1)
const id = firstIdAt(at) as EventId
const data = { name: 'fanout.threshold', value: '20', actor: 'operator', changedAt: at }

describe('PLT-8: an event', () => {
  test('comes back from the log as it was made', () => {
    const event = makeEvent(SettingChanged, { id, at }, data)
    const decoded = decodeEvent(encodeEvent(event, { traceparent: '00-a-b-01' }))
    expect(decoded).toEqual(event)
    expect(decoded.key).toBe('fanout.threshold')
    expect(isA(decoded, SettingChanged)).toBe(true)
  })

  test('of a later writer keeps what this reader knows', () => {
    const record = encodeEvent(makeEvent(SettingChanged, { id, at }, data))
    const grown = record.value.replace('"actor"', '"addedLater":1,"actor"')
    expect(decodeEvent({ ...record, value: grown }).data).toEqual(data)
  })

  test('of an unknown type or version is told apart from a broken one', () => {
    const record = encodeEvent(makeEvent(SettingChanged, { id, at }, data))
    const future = { ...record, value: record.value.replace('"v":1', '"v":99') }
    expect(() => decodeEvent(future)).toThrow(UnknownEventError)
    expect(() => decodeEvent({ ...record, value: '{' })).toThrow('not JSON')
    expect(() => decodeEvent({ ...record, value: '{}' })).toThrow('lacks its envelope')
    const wrong = { ...record, value: record.value.replace('"20"', '20') }
    expect(() => decodeEvent(wrong)).toThrow(
      'setting.changed.value of an event is not of kind text',
    )
  })

  test('has a name, a version and a key among its fields, once', () => {
    const names = catalogue.map(({ type, version }) => `${type}@${version}`)
    expect(new Set(names).size).toBe(names.length)
    for (const { key, fields, type } of catalogue) expect(Object.keys(fields), type).toContain(key)
  })
})

describe('PLT-8: a change of the catalogue', () => {
  const before = snapshot(Object.values(topics), catalogue)
  const changed = (change: Partial<EventType>) =>
    incompatibilities(
      before,
      snapshot(
        Object.values(topics),
        catalogue.map((event) =>
          event === SettingChanged ? ({ ...event, ...change } as EventType) : event,
        ),
      ),
    )

  test('is compatible when nothing or only optional fields and consumers are added', () => {
    expect(incompatibilities(before, before)).toEqual([])
    expect(changed({ fields: { ...SettingChanged.fields, note: 'text?' }, consumers: [] })).toEqual(
      [],
    )
  })

  test.each<[string, Partial<EventType>, string]>([
    ['loses a field', { fields: { name: 'text' } }, 'lost its field value'],
    [
      'changes a kind',
      { fields: { ...SettingChanged.fields, value: 'int' } },
      'changed from text to int',
    ],
    [
      'needs a new field',
      { fields: { ...SettingChanged.fields, note: 'text' } },
      'is new and not optional',
    ],
    ['changes the key', { key: 'actor' }, 'changed its key'],
    ['drops the version', { version: 2 }, 'was removed'],
  ])('is refused when an event %s', (_what, change, reason) => {
    expect(changed(change).join('\n')).toContain(reason)
  })

  test('is refused when a topic changes its partitions or goes', () => {
    const more = { ...topics.operations, partitions: 8 }
    expect(incompatibilities(before, snapshot([more], catalogue))[0]).toContain(
      'from 4 to 8 partitions',
    )
    expect(incompatibilities(before, snapshot([], catalogue))[0]).toContain('was removed')
  })
})
