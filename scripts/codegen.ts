/** `npm run codegen`: writes every generated file; `--check` only says which differ. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import {
  type CatalogueSnapshot,
  incompatibilities,
  snapshot,
} from '../services/kernel/event-compatibility.ts'
import { catalogue, topics } from '../services/kernel/events.ts'
import { readMigrations } from './codegen/cql.ts'
import { printSchema, readSchema, renderResolverTypes, renderTypeDefs } from './codegen/graphql.ts'
import { renderTables } from './codegen/tables.ts'
import { helpRequested } from './help.ts'

helpRequested(`Usage: npm run codegen [-- --check]

Writes the files that are made from others:
  services/platform/generated/tables.ts   table descriptors, from cql/*.cql
  services/kernel/generated/events.json   the catalogue of events, from services/kernel/events.ts
  schema/schema.graphql                   the whole schema printed, from schema/*.graphql
  schema/generated/type-defs.ts           the same, as the program loads it
  schema/generated/resolvers-types.ts     the types of the resolvers

An incompatible change of the catalogue is refused: make a new version of the event instead.
With --check nothing is written; exit code 1 names the files that differ.`)

const EVENTS_FILE = 'services/kernel/generated/events.json'

const readEvents = (): CatalogueSnapshot =>
  existsSync(EVENTS_FILE)
    ? (JSON.parse(readFileSync(EVENTS_FILE, 'utf8')) as CatalogueSnapshot)
    : { topics: {}, events: {} }

const events = snapshot(Object.values(topics), catalogue)
const faults = incompatibilities(readEvents(), events)
for (const fault of faults) console.error(`incompatible: ${fault}`)

const schema = readSchema('schema')
const outputs: Readonly<Record<string, string>> = {
  'services/platform/generated/tables.ts': renderTables(readMigrations('cql')),
  [EVENTS_FILE]: `${JSON.stringify(events, null, 2)}\n`,
  'schema/schema.graphql': printSchema(schema),
  'schema/generated/type-defs.ts': renderTypeDefs(schema),
  'schema/generated/resolvers-types.ts': await renderResolverTypes(schema),
}
const checkOnly = process.argv.includes('--check')
let stale = 0
for (const [file, content] of Object.entries(outputs)) {
  if (existsSync(file) && readFileSync(file, 'utf8') === content) continue
  stale += 1
  if (checkOnly) {
    console.error(`${file} differs from its source: run npm run codegen`)
  } else if (faults.length === 0) {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
    console.log(`wrote ${file}`)
  }
}
process.exitCode = faults.length > 0 || (checkOnly && stale > 0) ? 1 : 0
