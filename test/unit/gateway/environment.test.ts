import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { programEnvironment, type Variables } from '../../../gateway/cli/environment.ts'
import {
  declare,
  int,
  readSettings,
  SettingsError,
  text,
} from '../../../services/kernel/settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'tributary-environment-'))
afterAll(() => rmSync(folder, { recursive: true }))

const section = declare('door', {
  width: int({ default: 80, min: 1, max: 200, about: 'how wide' }),
  key: text({ default: '', secret: true, about: 'what opens it' }),
})

const read = (variables: Variables, flags: ReadonlyMap<string, string> = new Map()) =>
  readSettings([section], programEnvironment(variables, flags))

const faults = (variables: Variables): readonly string[] => {
  try {
    read(variables)
  } catch (error) {
    if (error instanceof SettingsError) return error.faults
    throw error
  }
  return []
}

describe('programEnvironment', () => {
  test('a flag stands over a variable, a variable over the default', () => {
    expect(read({}).view(section).width).toBe(80)
    const variables = { TRIBUTARY_DOOR_WIDTH: '90' }
    expect(read(variables).view(section).width).toBe(90)
    expect(read(variables, new Map([['door.width', '100']])).view(section).width).toBe(100)
  })

  test('a secret comes from a file, without the line end, and is not printed', () => {
    const file = join(folder, 'key')
    writeFileSync(file, 'sesame\n')
    const settings = read({ TRIBUTARY_DOOR_KEY_FILE: file })
    expect(settings.view(section).key).toBe('sesame')
    expect(JSON.stringify(settings.lines())).not.toContain('sesame')
  })

  test('OPS-1: every mistake is listed at once', () => {
    const found = faults({
      TRIBUTARY_DOOR_WIDTH: 'wide',
      TRIBUTARY_DOOR_KEY_FILE: join(folder, 'absent'),
      TRIBUTARY_DOOR_WITDH: '3',
    })
    expect(found).toHaveLength(3)
    expect(found.join('\n')).toContain('did you mean TRIBUTARY_DOOR_WIDTH?')
  })

  test('a file for what is no secret, or beside its variable, is a mistake', () => {
    expect(faults({ TRIBUTARY_DOOR_WIDTH_FILE: join(folder, 'key') })).toHaveLength(1)
    const both = { TRIBUTARY_DOOR_KEY: 'a', TRIBUTARY_DOOR_KEY_FILE: join(folder, 'key') }
    expect(faults(both)).toHaveLength(1)
  })

  test('variables of the tests are no settings', () => {
    const variables = {
      TRIBUTARY_STACK_DIR: 'x',
      TRIBUTARY_REQUIRE_CLUSTER: '1',
      TRIBUTARY_CRASH_AT: '3',
      PATH: '/bin',
    }
    expect(faults(variables)).toEqual([])
  })
})
