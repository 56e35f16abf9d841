/** The settings of the GraphQL endpoint: what a document may cost, and what is kept of it. */
import { choice, declare, int, list, text } from '../../services/kernel/settings.ts'

export const graphqlSettings = declare('graphql', {
  executor: choice(['jit', 'graphql'], {
    default: 'jit',
    about: 'compile documents that come again, or always interpret them',
  }),
  tokensMax: int({
    default: 2_000,
    min: 10,
    max: 100_000,
    live: true,
    about: 'words and signs in a document',
  }),
  depthMax: int({ default: 12, min: 1, max: 100, live: true, about: 'fields inside fields' }),
  fieldsMax: int({
    default: 1_000,
    min: 1,
    max: 100_000,
    live: true,
    about: 'fields of an operation, its fragments written out',
  }),
  aliasesMax: int({ default: 30, min: 0, max: 10_000, live: true, about: 'renamed fields' }),
  costMax: int({
    default: 10_000,
    min: 10,
    max: 10_000_000,
    live: true,
    about: 'objects an operation may ask for, the sizes of its lists multiplied',
  }),
  mutationCost: int({
    default: 1_000,
    min: 1,
    max: 1_000_000,
    live: true,
    about: 'what one mutation counts as among them',
  }),
  inFlightMax: int({
    default: 2_000,
    min: 1,
    max: 1_000_000,
    live: true,
    about: 'operations under way before new ones are refused',
  }),
  documentsMax: int({
    default: 1_000,
    min: 1,
    max: 1_000_000,
    about: 'documents kept parsed and compiled',
  }),
  documentBytesMax: int({
    default: 64 * 1024 ** 2,
    min: 65_536,
    max: 2 ** 40,
    unit: 'bytes',
    about: 'memory for kept documents, estimated; least recently used ones go first',
  }),
  origins: list({
    default: [],
    about: 'web origins besides our own that may call and open sockets, https://host',
  }),
  cursorSecret: text({
    default: '',
    secret: true,
    pattern: /^$|^.{32,}$/,
    shape: 'empty or at least 32 characters',
    about: 'signs cursors; when empty a secret kept in the tables does',
  }),
})

export const socketSettings = declare('socket', {
  connectionsMax: int({
    default: 15_000,
    min: 1,
    max: 1_000_000,
    about: 'open sockets of this process; more are refused',
  }),
  messageBytesMax: int({
    default: 102_400,
    min: 1_024,
    max: 16_777_216,
    unit: 'bytes',
    about: 'largest message a client may send',
  }),
  initMs: int({
    default: 3_000,
    min: 50,
    max: 60_000,
    unit: 'ms',
    about: 'time a client has to say who it is',
  }),
  operationsMax: int({
    default: 20,
    min: 1,
    max: 10_000,
    live: true,
    about: 'operations under way on one socket',
  }),
  waitingBytesMax: int({
    default: 1_048_576,
    min: 65_536,
    max: 2 ** 30,
    unit: 'bytes',
    about: 'bytes a slow client may leave unread before it is closed',
  }),
  pingMs: int({
    default: 12_000,
    min: 100,
    max: 600_000,
    unit: 'ms',
    about: 'how often a silent client is asked whether it is there',
  }),
})
