/**
 * What a gateway costs when nothing is behind it: the schema of the product over plain objects, for
 * gateway.bench.ts and write.bench.ts to compare with. It is started with a kind and the parts of an
 * answer, says where it listens, and serves until it is killed.
 * - `jit`: Apollo on node:http with graphql-jit, documents parsed once, access tokens checked by
 *   their signature and remembered, as the product does;
 * - `standalone`: Apollo's own server as its manual starts it, the same check of tokens.
 */
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ApolloServer, type ApolloServerPlugin, HeaderMap } from '@apollo/server'
import { ApolloServerPluginCacheControlDisabled } from '@apollo/server/plugin/disabled'
import { startStandaloneServer } from '@apollo/server/standalone'
import { buildSchema, type DocumentNode, GraphQLObjectType, GraphQLScalarType } from 'graphql'
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit'
import { createLocalJWKSet, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose'

interface Plain {
  readonly keySet: JSONWebKeySet
  /** By field of Query or Mutation. */
  readonly answers: Readonly<Record<string, unknown>>
}

const [kind = 'jit', file = ''] = process.argv.slice(2)
/** Times come as texts, as they were answered; the product keeps numbers. */
const revive = (name: string, value: unknown): unknown =>
  name.endsWith('At') && typeof value === 'string' ? Date.parse(value) : value
const { keySet, answers } = JSON.parse(readFileSync(file, 'utf8'), revive) as Plain

const schema = buildSchema(readFileSync('schema/schema.graphql', 'utf8'))
for (const type of Object.values(schema.getTypeMap())) {
  if (type instanceof GraphQLScalarType && type.name === 'DateTime') {
    Object.assign(type, { serialize: (value: unknown) => new Date(Number(value)).toISOString() })
  }
}
for (const root of [schema.getQueryType(), schema.getMutationType()]) {
  if (!(root instanceof GraphQLObjectType)) continue
  for (const [name, field] of Object.entries(root.getFields())) {
    if (name in answers) Object.assign(field, { resolve: () => answers[name] })
  }
}

const keys = createLocalJWKSet(keySet)
const known = new Map<string, JWTPayload>()
const viewerOf = async ({
  headers,
}: IncomingMessage): Promise<{ viewer: JWTPayload | undefined }> => {
  const token = headers.authorization?.replace(/^Bearer /, '')
  if (token === undefined) return { viewer: undefined }
  const remembered = known.get(token)
  if (remembered && (remembered.exp ?? 0) * 1000 > Date.now()) return { viewer: remembered }
  const { payload } = await jwtVerify(token, keys, { algorithms: ['EdDSA'] })
  known.set(token, payload)
  return { viewer: payload }
}

const compiled = new WeakMap<DocumentNode, CompiledQuery>()
const compiledOf = (document: DocumentNode): CompiledQuery => {
  const found = compiled.get(document)
  if (found) return found
  const made = compileQuery(schema, document)
  if (!isCompiledQuery(made)) throw new Error('graphql-jit refuses the document')
  compiled.set(document, made)
  return made
}

const jit: ApolloServerPlugin = {
  requestDidStart: async () => ({
    responseForOperation: async ({ document, request, contextValue }) => ({
      http: { headers: new HeaderMap() },
      body: {
        kind: 'single',
        singleResult: (await compiledOf(document).query(
          undefined,
          contextValue,
          request.variables,
        )) as {
          data: Record<string, unknown>
        },
      },
    }),
  }),
}

const readBody = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return JSON.parse(Buffer.concat(chunks).toString())
}

const serveJit = async (): Promise<string> => {
  const apollo = new ApolloServer({
    schema,
    plugins: [ApolloServerPluginCacheControlDisabled(), jit],
    nodeEnv: 'production',
  })
  await apollo.start()
  const server = createServer(async (request, response) => {
    const headers = new HeaderMap()
    for (const [name, value] of Object.entries(request.headers)) headers.set(name, String(value))
    const answer = await apollo.executeHTTPGraphQLRequest({
      httpGraphQLRequest: { method: 'POST', headers, search: '', body: await readBody(request) },
      context: () => viewerOf(request),
    })
    for (const [name, value] of answer.headers) response.setHeader(name, value)
    const body = answer.body.kind === 'complete' ? answer.body.string : ''
    response.writeHead(answer.status ?? 200, { 'content-length': Buffer.byteLength(body) })
    response.end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const serveStandalone = async (): Promise<string> => {
  const apollo = new ApolloServer({ schema, nodeEnv: 'production' })
  const { url } = await startStandaloneServer(apollo, {
    listen: { port: 0, host: '127.0.0.1' },
    context: ({ req }) => viewerOf(req),
  })
  return url
}

console.log(`listening ${await (kind === 'jit' ? serveJit() : serveStandalone())}`)
