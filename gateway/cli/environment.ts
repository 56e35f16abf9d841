/**
 * The environment as the settings read it. Flags of the command line stand over variables; a secret
 * may lie in the file that TRIBUTARY_…_FILE names.
 */
import { readFileSync } from 'node:fs'
import { type Environment, environmentName } from '../../services/kernel/settings.ts'

export type Variables = Readonly<Record<string, string | undefined>>

const PREFIX = 'TRIBUTARY_'
/** Variables of the tests and the stack of servers they run on: no settings of the program. */
const NOT_SETTINGS = /^TRIBUTARY_(STACK_|CRASH_|REQUIRE_CLUSTER$)/

/** Flags by the setting they stand for: `engine.kind` → `cluster`. */
export type Flags = ReadonlyMap<string, string>

export const programEnvironment = (variables: Variables, flags: Flags): Environment => {
  const all: Record<string, string | undefined> = { ...variables }
  for (const [setting, value] of flags) {
    const [section = '', name = ''] = setting.split('.')
    all[environmentName(section, name)] = value
  }
  const names = Object.keys(all).filter((name) => name.startsWith(PREFIX))
  return {
    names: names.filter((name) => !NOT_SETTINGS.test(name) && all[name] !== undefined),
    read: (variable, secret) => readVariable(all, variable, secret),
  }
}

const readVariable = (variables: Variables, variable: string, secret: boolean) => {
  const text = variables[variable]
  const file = variables[`${variable}_FILE`]
  if (file === undefined) {
    return text === undefined ? undefined : { text, source: 'environment' as const }
  }
  if (!secret) throw new Error('is no secret and cannot be read from a file')
  if (text !== undefined) throw new Error('is given twice: as a variable and as a file')
  return { text: readSecret(file), source: 'file' as const }
}

const readSecret = (file: string): string => {
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '')
  } catch (cause) {
    throw new Error(`cannot be read from ${file}`, { cause })
  }
}
