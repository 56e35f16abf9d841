/**
 * Settings are data: a name, a default, a range, a unit and a meaning, declared beside their use.
 *
 * `declare('fanout', { threshold: int({ … }) })` names one section; `readSettings` merges all
 * sections with the environment once, at the start, and reports every mistake at once. A setting
 * marked `live` can change while the program runs; a view reads the value of now, so hold the view
 * and not the value.
 *
 * `fanout.threshold` is TRIBUTARY_FANOUT_THRESHOLD in the environment. A secret is read from
 * there or from the file that TRIBUTARY_…_FILE names, and is never printed.
 */
import { BadInputError, DomainError } from './errors.ts'
import { nearest } from './nearest.ts'

export type SettingValue = string | number | boolean | readonly string[]

export interface Setting<Value extends SettingValue = SettingValue> {
  readonly default: Value
  readonly about: string
  /** What the value may be, in words: `1 to 100`, `a | b`. */
  readonly range: string
  readonly unit?: string
  /** May change while the program runs. */
  readonly live?: boolean
  readonly secret?: boolean
  /** Throws a message without the setting's name. */
  readonly parse: (text: string) => Value
}

interface Common<Value> {
  readonly default: Value
  readonly about: string
  readonly unit?: string
  readonly live?: boolean
}

interface NumberOptions extends Common<number> {
  readonly min: number
  readonly max: number
}

const numeric = (options: NumberOptions, kind: 'a whole number' | 'a number') => {
  const { min, max, ...rest } = options
  const range = `${min} to ${max}`
  const parse = (text: string): number => {
    const value = text.trim() === '' ? Number.NaN : Number(text)
    const fits = kind === 'a number' ? Number.isFinite(value) : Number.isSafeInteger(value)
    if (!fits || value < min || value > max) throw new Error(`must be ${kind} from ${range}`)
    return value
  }
  return { ...rest, range, parse }
}

export const int = (options: NumberOptions): Setting<number> => numeric(options, 'a whole number')
export const decimal = (options: NumberOptions): Setting<number> => numeric(options, 'a number')

export const flag = (options: Common<boolean>): Setting<boolean> => ({
  ...options,
  range: 'true | false',
  parse: (text) => {
    if (text !== 'true' && text !== 'false') throw new Error('must be true or false')
    return text === 'true'
  },
})

export const choice = <const Words extends readonly string[]>(
  words: Words,
  options: Common<Words[number]>,
): Setting<Words[number]> => ({
  ...options,
  range: words.join(' | '),
  parse: (text) => {
    const word = words.find((each) => each === text)
    if (word === undefined) throw new Error(`must be one of ${words.join(', ')}`)
    return word
  },
})

interface TextOptions extends Common<string> {
  readonly secret?: boolean
  readonly pattern?: RegExp
  /** The pattern in words. */
  readonly shape?: string
}

export const text = ({ pattern, shape, ...rest }: TextOptions): Setting<string> => ({
  ...rest,
  range: shape ?? 'text',
  parse: (value) => {
    if (pattern && !pattern.test(value)) throw new Error(`must be ${shape ?? String(pattern)}`)
    return value
  },
})

export const list = (options: Common<readonly string[]>): Setting<readonly string[]> => ({
  ...options,
  range: 'words separated by commas',
  parse: (value) =>
    value
      .split(',')
      .map((word) => word.trim())
      .filter((word) => word !== ''),
})

// biome-ignore lint/suspicious/noExplicitAny: a section holds settings of any value type.
export type SectionSettings = Readonly<Record<string, Setting<any>>>

export interface Section<Settings extends SectionSettings = SectionSettings> {
  readonly name: string
  readonly settings: Settings
}

export type Values<S extends Section> = {
  readonly [Name in keyof S['settings']]: S['settings'][Name] extends Setting<infer Value>
    ? Value
    : never
}

export const declare = <const Settings extends SectionSettings>(
  name: string,
  settings: Settings,
): Section<Settings> => ({ name, settings })

export interface SettingLine {
  readonly name: string
  readonly value: string
  readonly default: string
  readonly range: string
  readonly unit: string
  readonly live: boolean
  readonly source: 'default' | 'environment' | 'file' | 'changed'
  readonly about: string
}

export class SettingsError extends DomainError {
  override readonly name = 'SettingsError'
  readonly code = 'BAD_INPUT'
  readonly faults: readonly string[]

  constructor(faults: readonly string[]) {
    super(`${faults.length} wrong setting(s):\n${faults.map((fault) => `  ${fault}`).join('\n')}`)
    this.faults = faults
  }
}

interface Entry {
  readonly setting: Setting
  readonly variable: string
  value: SettingValue
  source: SettingLine['source']
}

const show = (value: SettingValue): string => (Array.isArray(value) ? value.join(',') : `${value}`)

/** `feed` + `pullBudgetMs` → TRIBUTARY_FEED_PULL_BUDGET_MS */
export const environmentName = (section: string, name: string): string =>
  `TRIBUTARY_${section}_${name}`.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toUpperCase()

/** Every setting of the program with its value of now. */
export class Settings {
  readonly #entries = new Map<string, Entry>()

  constructor(sections: readonly Section[]) {
    for (const { name: section, settings } of sections) {
      for (const [name, setting] of Object.entries(settings)) {
        this.#entries.set(`${section}.${name}`, {
          setting,
          variable: environmentName(section, name),
          value: setting.default,
          source: 'default',
        })
      }
    }
  }

  /** The values of one section; each property reads the value of now. */
  view<S extends Section>(section: S): Values<S> {
    const view = {}
    for (const name of Object.keys(section.settings)) {
      const entry = this.#entry(`${section.name}.${name}`)
      Object.defineProperty(view, name, { enumerable: true, get: () => entry.value })
    }
    return view as Values<S>
  }

  /** Checks a value for a live setting without applying it: what a change must pass first. */
  check(name: string, value: string): SettingValue {
    const { setting } = this.#entry(name)
    if (!setting.live) {
      throw new BadInputError(`${name} cannot change at run time: set it and start again`, {
        field: name,
      })
    }
    try {
      return setting.parse(value)
    } catch (cause) {
      throw new BadInputError(`${name} ${messageOf(cause)}, not '${value}'`, { field: name, cause })
    }
  }

  /** Applies a change of a live setting in this process; `undefined` goes back to the start's. */
  change(name: string, value: string): void {
    const parsed = this.check(name, value)
    const entry = this.#entry(name)
    entry.value = parsed
    entry.source = 'changed'
  }

  text(name: string): string {
    const { setting, value } = this.#entry(name)
    return setting.secret ? '(secret)' : show(value)
  }

  lines(): SettingLine[] {
    return [...this.#entries.keys()].map((name) => this.line(name))
  }

  line(name: string): SettingLine {
    const { setting, source } = this.#entry(name)
    return {
      name,
      value: this.text(name),
      default: setting.secret ? '' : show(setting.default),
      range: setting.range,
      unit: setting.unit ?? '',
      live: setting.live ?? false,
      source,
      about: setting.about,
    }
  }

  /** Reads the environment over the defaults, collecting every fault. */
  load(environment: Environment): readonly string[] {
    const faults: string[] = []
    const known = new Set<string>()
    for (const [name, entry] of this.#entries) {
      known.add(entry.variable).add(`${entry.variable}_FILE`)
      try {
        const found = environment.read(entry.variable, entry.setting.secret ?? false)
        if (!found) continue
        entry.value = entry.setting.parse(found.text)
        entry.source = found.source
      } catch (cause) {
        faults.push(`${entry.variable} (${name}): ${messageOf(cause)}`)
      }
    }
    for (const variable of environment.names) {
      if (!known.has(variable)) faults.push(unknownVariable(variable, known))
    }
    return faults
  }

  #entry(name: string): Entry {
    const entry = this.#entries.get(name)
    if (entry) return entry
    const close = nearest(name, this.#entries.keys())
    const hint = close ? `did you mean ${close}?` : '`tributary settings` lists them'
    throw new BadInputError(`there is no setting ${name}: ${hint}`, { field: name })
  }
}

export interface Environment {
  /** The variables that are ours, by name. */
  readonly names: readonly string[]
  read(
    variable: string,
    secret: boolean,
  ): { readonly text: string; readonly source: 'environment' | 'file' } | undefined
}

export const readSettings = (sections: readonly Section[], environment: Environment): Settings => {
  const settings = new Settings(sections)
  const faults = settings.load(environment)
  if (faults.length > 0) throw new SettingsError(faults)
  return settings
}

const unknownVariable = (variable: string, known: ReadonlySet<string>): string => {
  const close = nearest(variable, known)
  return `${variable}: there is no such setting${close ? `, did you mean ${close}?` : ''}`
}

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : `${cause}`)
