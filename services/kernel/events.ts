/**
 * The catalogue of events (PLT-8): every topic, and every event with its key and versioned schema.
 *
 * An event is a fact that was committed. Its topic's partitions are a contract of order: events of
 * one key stay in order, so neither the count of partitions nor an event's key may ever change.
 * Within a version a schema only grows, by optional fields; anything else is a new version, which
 * lives beside the old one until no consumer reads that. `npm run check` compares this file with
 * `generated/events.json` and refuses an incompatible change.
 */
import { BadInputError } from './errors.ts'
import { type EventId, formatId, parseId } from './ids.ts'

interface FieldValues {
  readonly id: bigint
  readonly int: number
  readonly text: string
  readonly flag: boolean
  /** ms since 1970 */
  readonly time: number
}
export type FieldKind = keyof FieldValues
export type Field = FieldKind | `${FieldKind}?`
export type Fields = Readonly<Record<string, Field>>

/** The data of an event by its fields; of an event of any type: values by name. */
export type Data<F extends Fields> = string extends keyof F
  ? Readonly<Record<string, FieldValues[FieldKind] | undefined>>
  : RequiredData<F> & OptionalData<F>

type RequiredData<F extends Fields> = {
  readonly [Name in keyof F as F[Name] extends FieldKind ? Name : never]: FieldValues[F[Name] &
    FieldKind]
}
type OptionalData<F extends Fields> = {
  readonly [Name in keyof F as F[Name] extends FieldKind
    ? never
    : Name]?: F[Name] extends `${infer Kind extends FieldKind}?` ? FieldValues[Kind] : never
}

export interface Topic {
  readonly name: string
  /** Never changed once created: the order of a key depends on it. */
  readonly partitions: number
  readonly retentionMs: number
}

export interface EventType<F extends Fields = Fields> {
  readonly type: string
  readonly version: number
  readonly topic: Topic
  /** The field whose value orders the events. */
  readonly key: keyof F & string
  readonly fields: F
  readonly producer: string
  readonly consumers: readonly string[]
}

/** An event as it is handed around: typed data and the envelope. */
export interface Event<F extends Fields = Fields> {
  readonly id: EventId
  readonly type: string
  readonly version: number
  readonly topic: Topic
  readonly key: string
  /** When it was committed, server time. */
  readonly at: number
  readonly data: Data<F>
}

/** An event as the log carries it. */
export interface LogEvent {
  readonly key: string
  readonly value: string
  /** Small and textual: `traceparent`, and what a dead letter says of its origin. */
  readonly headers: Readonly<Record<string, string>>
}

const DAY_MS = 86_400_000

export const topics = {
  operations: { name: 'operations', partitions: 4, retentionMs: 7 * DAY_MS },
  accounts: { name: 'accounts', partitions: 16, retentionMs: 7 * DAY_MS },
  graph: { name: 'graph', partitions: 32, retentionMs: 7 * DAY_MS },
  posts: { name: 'posts', partitions: 32, retentionMs: 7 * DAY_MS },
  engagement: { name: 'engagement', partitions: 32, retentionMs: 7 * DAY_MS },
} as const satisfies Record<string, Topic>

const defineEvent = <const F extends Fields>(event: EventType<F>): EventType<F> => event

export const SettingChanged = defineEvent({
  type: 'setting.changed',
  version: 1,
  topic: topics.operations,
  key: 'name',
  fields: { name: 'text', value: 'text', previous: 'text?', actor: 'text', changedAt: 'time' },
  producer: 'services/settings',
  consumers: ['workers/audit'],
})

/** Its id is that of the account, so that a sign-up that is resumed announces the same event. */
export const AccountCreated = defineEvent({
  type: 'account.created',
  version: 1,
  topic: topics.accounts,
  key: 'accountId',
  fields: { accountId: 'id', handle: 'text', displayName: 'text', isPrivate: 'flag' },
  producer: 'services/accounts',
  consumers: [],
})

/** What changed of a profile; a field that stayed as it was is left out. */
export const AccountChanged = defineEvent({
  type: 'account.changed',
  version: 1,
  topic: topics.accounts,
  key: 'accountId',
  fields: { accountId: 'id', displayName: 'text?', bio: 'text?', isPrivate: 'flag?' },
  producer: 'services/accounts',
  consumers: [],
})

/**
 * How one account stands to another it follows now: `none`, `requested` or `following`. Of two the
 * one with the higher version stands. The other events of the graph are the same for what they say.
 */
export const FollowChanged = defineEvent({
  type: 'follow.changed',
  version: 1,
  topic: topics.graph,
  key: 'followerId',
  fields: { followerId: 'id', followedId: 'id', state: 'text', version: 'id' },
  producer: 'services/graph',
  consumers: ['workers/count'],
})

export const BlockChanged = defineEvent({
  type: 'block.changed',
  version: 1,
  topic: topics.graph,
  key: 'actorId',
  fields: { actorId: 'id', blockedId: 'id', isOn: 'flag', version: 'id' },
  producer: 'services/graph',
  consumers: [],
})

export const MuteChanged = defineEvent({
  type: 'mute.changed',
  version: 1,
  topic: topics.graph,
  key: 'actorId',
  fields: { actorId: 'id', mutedId: 'id', isOn: 'flag', version: 'id' },
  producer: 'services/graph',
  consumers: [],
})

/** How an author's posts reach readers from now on: `PUSH`, `BOTH` or `PULL`. */
export const AuthorModeChanged = defineEvent({
  type: 'author.mode-changed',
  version: 1,
  topic: topics.graph,
  key: 'authorId',
  fields: { authorId: 'id', mode: 'text', version: 'id' },
  producer: 'services/graph',
  consumers: [],
})

/**
 * What fan-out and counts need of a post; never its text, which a deletion takes back. Its id is that
 * of the post, so that a creation that is resumed announces the same event.
 */
export const PostCreated = defineEvent({
  type: 'post.created',
  version: 1,
  topic: topics.posts,
  key: 'authorId',
  fields: {
    postId: 'id',
    authorId: 'id',
    orderedAt: 'time',
    visibility: 'text',
    isReshare: 'flag',
    replyToId: 'id?',
    replyToAuthorId: 'id?',
    originalId: 'id?',
    originalAuthorId: 'id?',
  },
  producer: 'services/post',
  consumers: ['workers/count'],
})

export const PostEdited = defineEvent({
  type: 'post.edited',
  version: 1,
  topic: topics.posts,
  key: 'authorId',
  fields: { postId: 'id', authorId: 'id', version: 'id' },
  producer: 'services/post',
  consumers: [],
})

export const PostDeleted = defineEvent({
  type: 'post.deleted',
  version: 1,
  topic: topics.posts,
  key: 'authorId',
  fields: {
    postId: 'id',
    authorId: 'id',
    orderedAt: 'time',
    isReshare: 'flag',
    replyToId: 'id?',
    originalId: 'id?',
  },
  producer: 'services/post',
  consumers: ['workers/count'],
})

export const VisibilityChanged = defineEvent({
  type: 'visibility.changed',
  version: 1,
  topic: topics.posts,
  key: 'authorId',
  fields: { postId: 'id', authorId: 'id', visibility: 'text', previous: 'text', version: 'id' },
  producer: 'services/post',
  consumers: [],
})

/** A like, save, hide or report was turned on or off. The highest version of a kind stands. */
export const EngagementChanged = defineEvent({
  type: 'engagement.changed',
  version: 1,
  topic: topics.engagement,
  key: 'actorId',
  fields: {
    actorId: 'id',
    postId: 'id',
    authorId: 'id',
    kind: 'text',
    on: 'flag',
    version: 'id',
    reason: 'text?',
  },
  producer: 'services/engagement',
  consumers: ['workers/count'],
})

// biome-ignore lint/suspicious/noExplicitAny: the list holds events of every shape.
export const catalogue: readonly EventType<any>[] = [
  SettingChanged,
  AccountCreated,
  AccountChanged,
  FollowChanged,
  BlockChanged,
  MuteChanged,
  AuthorModeChanged,
  PostCreated,
  PostEdited,
  PostDeleted,
  VisibilityChanged,
  EngagementChanged,
]

/** Makes an event of `definition`; the id names it for ever, so a retry passes the same one. */
export const makeEvent = <F extends Fields>(
  definition: EventType<F>,
  envelope: { readonly id: EventId; readonly at: number },
  data: Data<F>,
): Event<F> => {
  const { type, version, topic, key } = definition
  const keyValue = (data as Readonly<Record<string, unknown>>)[key]
  return { ...envelope, type, version, topic, key: String(keyValue), data }
}

export const encodeEvent = (event: Event, headers: LogEvent['headers'] = {}): LogEvent => ({
  key: event.key,
  value: JSON.stringify(
    { type: event.type, v: event.version, id: event.id, at: event.at, data: event.data },
    (_name, value: unknown) => (typeof value === 'bigint' ? formatId(value) : value),
  ),
  headers,
})

/** What a consumer meets that it was not written for: it is kept for later, never dropped. */
export class UnknownEventError extends BadInputError {}

interface Envelope {
  readonly type: string
  readonly v: number
  readonly id: string
  readonly at: number
  readonly data: Readonly<Record<string, unknown>>
}

export const decodeEvent = (record: LogEvent): Event => {
  const envelope = parseEnvelope(record.value)
  const definition = catalogue.find(
    ({ type, version }) => type === envelope.type && version === envelope.v,
  )
  if (!definition) {
    throw new UnknownEventError(`no event ${envelope.type} of version ${envelope.v} is known here`)
  }
  return {
    id: parseId<'event'>(envelope.id),
    type: definition.type,
    version: definition.version,
    topic: definition.topic,
    key: record.key,
    at: envelope.at,
    data: decodeData(definition, envelope.data),
  }
}

/** Narrows an event to the definition a handler was written for. */
export const isA = <F extends Fields>(event: Event, definition: EventType<F>): event is Event<F> =>
  event.type === definition.type && event.version === definition.version

const parseEnvelope = (value: string): Envelope => {
  try {
    const parsed: unknown = JSON.parse(value)
    if (isEnvelope(parsed)) return parsed
  } catch (cause) {
    throw new BadInputError('an event is not JSON', { cause })
  }
  throw new BadInputError('an event lacks its envelope { type, v, id, at, data }')
}

const isEnvelope = (value: unknown): value is Envelope => {
  if (typeof value !== 'object' || value === null) return false
  const { type, v, id, at, data } = value as Record<keyof Envelope, unknown>
  return (
    typeof type === 'string' &&
    typeof v === 'number' &&
    typeof id === 'string' &&
    typeof at === 'number' &&
    typeof data === 'object' &&
    data !== null
  )
}

const decodeData = (definition: EventType, raw: Envelope['data']): Data<Fields> => {
  const data: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(definition.fields)) {
    const value = raw[name]
    if (value === undefined && field.endsWith('?')) continue
    data[name] = decodeField(value, `${definition.type}.${name}`, kindOf(field))
  }
  return data as Data<Fields>
}

export const kindOf = (field: Field): FieldKind => field.replace('?', '') as FieldKind

const decodeField = (value: unknown, name: string, kind: FieldKind): FieldValues[FieldKind] => {
  if (kind === 'id' && typeof value === 'string') return parseId(value, name)
  if (kind === 'text' && typeof value === 'string') return value
  if (kind === 'flag' && typeof value === 'boolean') return value
  if ((kind === 'int' || kind === 'time') && Number.isSafeInteger(value)) return Number(value)
  throw new BadInputError(`${name} of an event is not of kind ${kind}`, { field: name })
}
