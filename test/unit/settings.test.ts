import { describe, expect, test } from 'vitest'
import {
  choice,
  decimal,
  declare,
  type Environment,
  environmentName,
  flag,
  int,
  list,
  readSettings,
  SettingsError,
  text,
} from '../../services/kernel/settings.ts'

const fanout = declare('fanout', {
  threshold: int({ default: 1_000, min: 0, max: 10_000_000, live: true, about: 'T' }),
  shareMax: decimal({ default: 0.5, min: 0, max: 1, about: 'a share' }),
})
const server = declare('server', {
  mode: choice(['development', 'production'], { default: 'production', about: 'mode' }),
  secretKey: text({ default: '', secret: true, about: 'a key' }),
  origins: list({ default: [], about: 'allowed origins' }),
  strict: flag({ default: true, about: 'strict' }),
})

const environment = (variables: Record<string, string>): Environment => ({
  names: Object.keys(variables),
  read: (name) => {
    const found = variables[name]
    return found === undefined ? undefined : { text: found, source: 'environment' }
  },
})

const read = (variables: Record<string, string> = {}) =>
  readSettings([fanout, server], environment(variables))

const faultsOf = (variables: Record<string, string>): readonly string[] => {
  try {
    read(variables)
  } catch (error) {
    if (error instanceof SettingsError) return error.faults
    throw error
  }
  return []
}

describe('OPS-1: settings', () => {
  test('have their defaults without an environment', () => {
    const settings = read()
    expect({ ...settings.view(fanout) }).toEqual({ threshold: 1_000, shareMax: 0.5 })
    expect(settings.view(server).mode).toBe('production')
  })

  test('are read from the environment by their name', () => {
    expect(environmentName('feed', 'pullBudgetMs')).toBe('TRIBUTARY_FEED_PULL_BUDGET_MS')
    const settings = read({ TRIBUTARY_FANOUT_THRESHOLD: '20', TRIBUTARY_SERVER_ORIGINS: 'a, b' })
    expect(settings.view(fanout).threshold).toBe(20)
    expect(settings.view(server).origins).toEqual(['a', 'b'])
    expect(settings.lines().find(({ name }) => name === 'fanout.threshold')?.source).toBe(
      'environment',
    )
  })

  test('report every mistake at once, with a suggestion for an unknown name', () => {
    const faults = faultsOf({
      TRIBUTARY_FANOUT_THRESHOLD: '1.5',
      TRIBUTARY_FANOUT_SHARE_MAX: '2',
      TRIBUTARY_SERVER_MODE: 'test',
      TRIBUTARY_SERVER_STRICT: 'yes',
      TRIBUTARY_SERVER_MODUS: 'x',
    })
    expect(faults).toHaveLength(5)
    expect(faults[0]).toContain('must be a whole number from 0 to 10000000')
    expect(faults.at(-1)).toContain('did you mean TRIBUTARY_SERVER_MODE?')
  })

  test.each(['', ' ', 'NaN', 'Infinity', '0x', '1e400'])('take no number from %j', (value) => {
    expect(faultsOf({ TRIBUTARY_FANOUT_THRESHOLD: value })).toHaveLength(1)
  })

  test('never show a secret', () => {
    const settings = read({ TRIBUTARY_SERVER_SECRET_KEY: 'hunter2' })
    expect(settings.view(server).secretKey).toBe('hunter2')
    expect(JSON.stringify(settings.lines())).not.toContain('hunter2')
  })

  test('marked live change under a view that is held', () => {
    const settings = read()
    const view = settings.view(fanout)
    settings.change('fanout.threshold', '20')
    expect(view.threshold).toBe(20)
    expect(settings.lines()[0]).toMatchObject({ value: '20', default: '1000', source: 'changed' })
  })

  test('refuse a change out of range, of a fixed setting, or of an unknown one, and keep the value', () => {
    const settings = read()
    expect(() => settings.change('fanout.threshold', '-1')).toThrow(
      "fanout.threshold must be a whole number from 0 to 10000000, not '-1'",
    )
    expect(() => settings.change('server.mode', 'development')).toThrow('cannot change at run time')
    expect(() => settings.change('fanout.treshold', '5')).toThrow('did you mean fanout.threshold?')
    expect(settings.view(fanout).threshold).toBe(1_000)
  })
})
