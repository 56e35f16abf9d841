/**
 * The GraphQL schema from its files: merged, printed, and as types for the resolvers.
 *
 * A file may extend a type that another defines; the result has definitions alone. A root type that
 * nothing has extended yet is left out, so that base.graphql can describe all three.
 */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { codegen } from '@graphql-codegen/core'
import * as typescript from '@graphql-codegen/typescript'
import * as resolvers from '@graphql-codegen/typescript-resolvers'
import {
  type DefinitionNode,
  type DocumentNode,
  Kind,
  type ObjectTypeDefinitionNode,
  parse,
  print,
  Source,
} from 'graphql'

/** Types whose resolvers get an object of a service: the name in the schema → file#type. */
const mappers: Readonly<Record<string, string>> = {
  Node: '../../gateway/graphql/schema.ts#FoundNode',
  Account: '../../gateway/views.ts#AccountView',
  Post: '../../gateway/views.ts#PostView',
  PostRevision: '../../services/post/post.ts#Revision',
  Mention: '../../services/post/post.ts#Mention as KnownMention',
  SavedPostEdge: '../../gateway/resolvers/engagement.ts#SavedEdge',
}

const PRINTED = 'schema.graphql'

export const readSchema = (folder: string): DocumentNode => {
  const files = readdirSync(folder)
    .filter((file) => file.endsWith('.graphql') && file !== PRINTED)
    .sort()
  const definitions = files.flatMap((file) => {
    const path = join(folder, file)
    return parse(new Source(readFileSync(path, 'utf8'), path)).definitions
  })
  return { kind: Kind.DOCUMENT, definitions: mergeExtensions(definitions) }
}

const isExtension = (node: DefinitionNode) => node.kind === Kind.OBJECT_TYPE_EXTENSION

const mergeExtensions = (nodes: readonly DefinitionNode[]): DefinitionNode[] => {
  const merged = nodes
    .filter((node) => !isExtension(node))
    .map((node) => (node.kind === Kind.OBJECT_TYPE_DEFINITION ? grown(node, nodes) : node))
  const names = new Set(merged.flatMap((node) => ('name' in node ? [node.name?.value] : [])))
  for (const node of nodes) {
    if (isExtension(node) && !names.has(node.name.value)) {
      throw new Error(`extend type ${node.name.value}: no file defines it`)
    }
  }
  return merged.filter(
    (node) => node.kind !== Kind.OBJECT_TYPE_DEFINITION || (node.fields ?? []).length > 0,
  )
}

const grown = (
  type: ObjectTypeDefinitionNode,
  nodes: readonly DefinitionNode[],
): ObjectTypeDefinitionNode => {
  const own = nodes.filter(isExtension).filter(({ name }) => name.value === type.name.value)
  return {
    ...type,
    interfaces: [type, ...own].flatMap(({ interfaces }) => interfaces ?? []),
    directives: [type, ...own].flatMap(({ directives }) => directives ?? []),
    fields: [type, ...own].flatMap(({ fields }) => fields ?? []),
  }
}

/** The whole schema as people read it, in the format the linter asks for. */
export const printSchema = (schema: DocumentNode): string => {
  const head = '# Written by `npm run codegen` from the other files of this folder. Do not edit.'
  return execFileSync('npx', ['biome', 'format', `--stdin-file-path=schema/${PRINTED}`], {
    input: `${head}\n\n${print(schema)}\n`,
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'ignore'],
  })
}

/** The schema as the program loads it: no file to find at run time. */
export const renderTypeDefs = (schema: DocumentNode): string =>
  `// Written by \`npm run codegen\` from schema/*.graphql. Do not edit.
export const typeDefs = ${JSON.stringify(`${print(schema)}\n`)}
`

export const renderResolverTypes = async (schema: DocumentNode): Promise<string> => {
  const content = await codegen({
    filename: 'schema/generated/resolvers-types.ts',
    schema,
    documents: [],
    plugins: [{ typescript: {} }, { resolvers: {} }],
    pluginMap: { typescript, resolvers },
    config: {
      contextType: '../../gateway/graphql/context.ts#RequestContext',
      mappers,
      immutableTypes: true,
      useTypeImports: true,
      enumsAsTypes: true,
      enumType: 'string-literal',
      strictScalars: true,
      scalars: {
        ID: { input: 'string', output: 'string' },
        DateTime: { input: 'number', output: 'number' },
        Cursor: 'string',
      },
    },
  })
  return `// Written by \`npm run codegen\` from schema/*.graphql. Do not edit.\n${content}\n`
}
