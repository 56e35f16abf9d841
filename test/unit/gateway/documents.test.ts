import { isObjectType } from 'graphql'
import { describe, expect, test } from 'vitest'
import type { RequestContext } from '../../../gateway/graphql/context.ts'
import {
  BYTES_PER_CHARACTER,
  chooseOperation,
  Documents,
} from '../../../gateway/graphql/documents.ts'
import { LimitError } from '../../../gateway/graphql/limit-error.ts'
import { buildSchema } from '../../../gateway/graphql/schema.ts'
import { graphqlSettings } from '../../../gateway/graphql/settings.ts'
import { baseModule } from '../../../gateway/resolvers/base.ts'
import { apiModules } from '../../../gateway/resolvers/roster.ts'
import { typeDefs } from '../../../schema/generated/type-defs.ts'
import { Settings } from '../../../services/kernel/settings.ts'
import { Telemetry } from '../../../services/platform/telemetry.ts'
import { gatewayExtension } from '../../kit/gateway-extension.ts'

const extension = gatewayExtension()
const modules = [...apiModules, extension.module]
const schema = buildSchema(`${typeDefs}${extension.typeDefs}`, [baseModule(modules), ...modules])
const defaults = new Settings([graphqlSettings]).view(graphqlSettings)

const open = (changed: Partial<typeof defaults> = {}, introspection = false) => {
  const documents = new Documents({
    ...{ schema, introspection, settings: { ...defaults, ...changed } },
    telemetry: new Telemetry({ level: 'silent', version: 'test' }),
  })
  const operation = (source: string) => {
    const prepared = documents.prepare(source)
    if (prepared.kind === 'invalid') throw new Error(prepared.errors[0]?.message)
    return chooseOperation(prepared.operations, undefined)
  }
  return { documents, operation }
}

/** The fields of these tests ask for nothing of it. */
const context = {} as RequestContext
const ECHO = 'query ($t: String) { echo(text: $t) }'

describe('a document', () => {
  test('is compiled when it comes the second time, and answers the same', async () => {
    const { operation } = open()
    const answers: unknown[] = []
    const compiled: boolean[] = []
    for (const t of ['a', 'b', 'c']) {
      answers.push((await operation(ECHO).execute({ t }, context)).data)
      compiled.push(operation(ECHO).isCompiled)
    }
    expect(answers).toEqual([{ echo: 'a' }, { echo: 'b' }, { echo: 'c' }])
    expect(compiled).toEqual([false, true, true])
  })

  test.each([
    ['query ($t: String! = "left out") { echo(text: $t) }', 'left out'],
    ['query ($t: String = "left out") { echo(text: $t) }', 'left out'],
    ['query ($at: DateTime! = "1970-01-01T00:00:01Z") { echo(at: $at) }', '1000'],
  ])('takes the default of a variable, compiled or not: %s', async (source, echo) => {
    const { operation } = open()
    for (const _time of [1, 2, 3]) {
      expect(await operation(source).execute({}, context)).toEqual({ data: { echo } })
    }
    expect(operation(source).isCompiled).toBe(true)
  })

  test('is never compiled with the plain executor', async () => {
    const { operation } = open({ executor: 'graphql' })
    for (const t of ['a', 'b', 'c']) await operation(ECHO).execute({ t }, context)
    expect(operation(ECHO).isCompiled).toBe(false)
  })

  test.each([
    ['their number', { documentsMax: 2 }],
    ['their bytes', { documentBytesMax: 2.5 * BYTES_PER_CHARACTER * ECHO.length }],
  ])('is kept within %s', (_bound, changed) => {
    const { operation } = open(changed)
    const [one, two, three] = ['$a', '$b', '$c'].map((name) => ECHO.replaceAll('$t', name))
    const [first, , last] = [one, two, three].map((text = '') => operation(text))
    expect(operation(three ?? '')).toBe(last)
    expect(operation(one ?? '')).not.toBe(first)
  })

  test('that is wrong is not kept, and says everything that is wrong', () => {
    const { documents } = open()
    const prepared = documents.prepare('{ nothing nowhere }')
    expect(prepared).toMatchObject({ kind: 'invalid', errors: [{}, {}] })
    expect(documents.prepare('{ nothing nowhere }')).not.toBe(prepared)
  })

  test('may ask for the schema in development alone', () => {
    const query = '{ __schema { queryType { name } } }'
    expect(open({}, true).documents.prepare(query).kind).toBe('ready')
    expect(open({}, false).documents.prepare(query).kind).toBe('invalid')
  })

  test('that is made to be slow to validate costs no more than its tokens squared', () => {
    const { documents } = open()
    const fields = (count: number) => Array(count).fill('echo').join(' ')
    const hostile = [
      `{ ${fields(1_990)} }`,
      `{ ${Array(280).fill('...f').join(' ')} } fragment f on Query { ${fields(600)} }`,
      `{ tree { ${'child { '.repeat(600)}leaf${' }'.repeat(600)} } }`,
      `{ ${Array(330).fill('tree { leaf }').join(' ')} }`,
      doubling(150),
    ]
    for (const source of hostile) {
      const looks = looksAtFields(() => documents.prepare(source))
      expect(looks).toBeLessThanOrEqual(2 * defaults.tokensMax ** 2)
    }
  })

  test('with more tokens than the limit is not looked at', () => {
    const { documents } = open()
    const looks = looksAtFields(() => {
      const fields = Array(defaults.tokensMax).fill('echo').join(' ')
      expect(() => documents.prepare(`{ ${fields} }`)).toThrow(LimitError)
    })
    expect(looks).toBe(0)
  })
})

/** Fragments each of which stands twice in the one before: 2^levels fields, written out. */
const doubling = (levels: number): string => {
  const parts = Array.from(
    { length: levels },
    (_none, level) => `fragment f${level} on Query { ...f${level + 1} ...f${level + 1} echo }`,
  )
  return `{ ...f0 } ${parts.join(' ')} fragment f${levels} on Query { echo }`
}

/**
 * How often `work` looks up the type of a field: validation does for each pair of fields that it
 * compares, which is where documents that are slow to validate spend their time.
 */
const looksAtFields = (work: () => unknown): number => {
  let looks = 0
  const types = [schema.getQueryType(), schema.getType('Tree')].filter(isObjectType)
  const fields = types.flatMap((type) => Object.values(type.getFields()))
  for (const field of fields) {
    const { type } = field
    const get = () => {
      looks += 1
      return type
    }
    Object.defineProperty(field, 'type', { get, configurable: true, enumerable: true })
  }
  try {
    work()
    return looks
  } finally {
    for (const field of fields) {
      const { type } = field
      Object.defineProperty(field, 'type', { value: type, configurable: true, enumerable: true })
    }
  }
}
