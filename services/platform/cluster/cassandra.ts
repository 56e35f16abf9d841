/**
 * One process's connection to Cassandra: bounded, timed, measured, and with errors of ours.
 *
 * **Which retries are safe.** Reads, and plain writes and removals, which carry their own
 * timestamp, are the same when they arrive twice: the driver may repeat them. A conditional write
 * is not: it is sent once, and the table adapter finds out what became of it.
 *
 * **What an error means.** A read that fails has simply failed. A write has failed for certain only
 * when no server took it; once it was sent, silence and every time-out mean that it may have
 * happened (OutcomeUnknownError).
 */
import { auth, Client, errors, policies, type QueryOptions, types } from 'cassandra-driver'
import { assert, OutcomeUnknownError, OverloadedError } from '../../kernel/errors.ts'
import type { Values } from '../../kernel/settings.ts'
import type { cassandraSettings } from '../settings.ts'
import { TablesUnavailableError } from '../tables.ts'
import type { Telemetry } from '../telemetry.ts'

export type CassandraSettings = Values<typeof cassandraSettings>

export interface CassandraOptions {
  readonly settings: CassandraSettings
  readonly telemetry: Telemetry
  /** None while the keyspace is being made. */
  readonly keyspace?: string
}

/** A prepared statement and what is bound to it. */
export interface Bound {
  readonly query: string
  readonly params: unknown[]
}

type Operation = 'read' | 'serial' | 'write' | 'batch' | 'conditional' | 'conditional_batch'
type Row = types.Row

/** Rows of one page: above every limit of a slice, so that one request is one page. */
const FETCH_ROWS = 5000
/** A change of the schema flushes and agrees: it takes seconds on a busy server. */
const DEFINE_TIMEOUT_MS = 60_000

export class Cassandra implements AsyncDisposable {
  readonly #client: Client
  readonly #inFlightMax: number
  readonly #options: ReturnType<typeof requestOptions>
  readonly #meters: Readonly<Record<Operation, Meter>>
  #inFlight = 0

  private constructor(client: Client, { settings, telemetry }: CassandraOptions) {
    this.#client = client
    this.#inFlightMax = settings.inFlightMax
    this.#options = requestOptions(settings)
    this.#meters = metersOf(telemetry, () => this.#inFlight)
  }

  /** Connects, or rejects with TablesUnavailableError. */
  static async connect(options: CassandraOptions): Promise<Cassandra> {
    const client = makeClient(options)
    client.on('log', (level: string, source: string, message: string) => {
      if (level === 'error' || level === 'warning') {
        options.telemetry.log.debug({ source }, `cassandra driver: ${message}`)
      }
    })
    try {
      await client.connect()
      return new Cassandra(client, options)
    } catch (error) {
      await client.shutdown()
      throw translate(error, 'read')
    }
  }

  async read(bound: Bound, how: 'read' | 'serial' = 'read'): Promise<Row[]> {
    const result = await this.#run(how, () =>
      this.#client.execute(bound.query, bound.params, this.#options[how]),
    )
    return result.rows
  }

  /** `us` is the timestamp of the write, the same however often it is sent. */
  async write(bound: Bound, us: number): Promise<void> {
    const options = writeOptions({ us, logged: false })
    await this.#run('write', () => this.#client.execute(bound.query, bound.params, options))
  }

  /** All of it or nothing: at once when it is of one partition, else in the end. */
  async batch(
    bounds: Bound[],
    { onePartition, us }: { readonly onePartition: boolean; readonly us: number },
  ): Promise<void> {
    const options = writeOptions({ us, logged: !onePartition })
    await this.#run('batch', () => this.#client.batch(bounds, options))
  }

  /** Says whether it was applied and, where the server tells, what stood there instead. */
  async conditional(bound: Bound): Promise<{ applied: boolean; row: Row | undefined }> {
    const result = await this.#run('conditional', () =>
      this.#client.execute(bound.query, bound.params, this.#options.conditional),
    )
    return { applied: result.wasApplied(), row: result.rows[0] }
  }

  /** A condition and what is written if it holds, all of one partition: one agreement. */
  async conditionalBatch(bounds: Bound[]): Promise<{ applied: boolean }> {
    const result = await this.#run('conditional_batch', () =>
      this.#client.batch(bounds, this.#options.conditionalBatch),
    )
    return { applied: result.wasApplied() }
  }

  /** A change of the schema; resolves when all servers agree on it. */
  async define(statement: string): Promise<void> {
    const result = await this.#run('write', () =>
      this.#client.execute(statement, [], {
        ...this.#options.read,
        prepare: false,
        readTimeout: DEFINE_TIMEOUT_MS,
      }),
    )
    // The driver's types leave it out.
    const { isSchemaInAgreement } = result.info as { isSchemaInAgreement?: boolean }
    if (isSchemaInAgreement !== true) {
      throw new TablesUnavailableError('the servers do not agree on the schema yet: try again')
    }
  }

  /** A statement that is used too rarely to be worth preparing. */
  async query(statement: string, params: unknown[] = []): Promise<Row[]> {
    const options = { ...this.#options.read, prepare: false, hints: params.map(hintOf) }
    return (await this.#run('read', () => this.#client.execute(statement, params, options))).rows
  }

  async #run(
    operation: Operation,
    request: () => Promise<types.ResultSet>,
  ): Promise<types.ResultSet> {
    if (this.#inFlight >= this.#inFlightMax) {
      throw new OverloadedError(`${this.#inFlight} requests to Cassandra are under way already`)
    }
    this.#inFlight += 1
    const started = performance.now()
    try {
      const result = await request()
      this.#meters[operation].succeeded(started)
      return result
    } catch (error) {
      this.#meters[operation].failed(started)
      throw translate(error, operation === 'read' || operation === 'serial' ? 'read' : 'write')
    } finally {
      this.#inFlight -= 1
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.shutdown()
  }
}

const makeClient = ({ settings, keyspace }: CassandraOptions): Client =>
  new Client({
    contactPoints: [...settings.hosts],
    localDataCenter: settings.dataCenter,
    monitorReporting: { enabled: false },
    encoding: { useBigIntAsLong: true, useUndefinedAsUnset: true },
    pooling: { maxRequestsPerConnection: Math.min(32_000, Math.max(2_048, settings.inFlightMax)) },
    socketOptions: { connectTimeout: 5_000, readTimeout: settings.requestTimeoutMs },
    ...(keyspace === undefined ? {} : { keyspace }),
    ...(settings.username === ''
      ? {}
      : { authProvider: new auth.PlainTextAuthProvider(settings.username, settings.password) }),
    policies: {
      loadBalancing: new policies.loadBalancing.TokenAwarePolicy(
        new policies.loadBalancing.DCAwareRoundRobinPolicy(settings.dataCenter),
      ),
      // A server that comes back is used within seconds, not the driver's ten minutes.
      reconnection: new policies.reconnection.ExponentialReconnectionPolicy(100, 3_000, false),
      retry: new RepeatOnce(),
      ...(settings.speculativeReads
        ? { speculativeExecution: new SpeculativeReads(settings.speculativeDelayMs) }
        : {}),
    },
  })

/** One repeat of what may be repeated: what fails twice is an answer for the caller to judge. */
class RepeatOnce extends policies.retry.RetryPolicy {
  override onReadTimeout(info: policies.retry.OperationInfo) {
    return this.#repeat(info, 'same')
  }

  /** The driver asks only for idempotent requests. */
  override onWriteTimeout(info: policies.retry.OperationInfo) {
    return this.#repeat(info, 'same')
  }

  override onRequestError(info: policies.retry.OperationInfo) {
    return this.#repeat(info, 'next')
  }

  override onUnavailable(info: policies.retry.OperationInfo) {
    return this.#repeat(info, 'next')
  }

  #repeat({ nbRetry, executionOptions }: policies.retry.OperationInfo, host: 'same' | 'next') {
    if (nbRetry > 0 || !executionOptions.isIdempotent()) return this.rethrowResult()
    return this.retryResult(executionOptions.getConsistency(), host === 'same')
  }
}

/** Asks a second replica when the first is slow; writes are idempotent too but only cost more. */
class SpeculativeReads extends policies.speculativeExecution.ConstantSpeculativeExecutionPolicy {
  constructor(delayMs: number) {
    super(delayMs, 1)
  }

  override newPlan(keyspace: string, query: string | object[]) {
    if (typeof query === 'string' && query.startsWith('SELECT'))
      return super.newPlan(keyspace, query)
    return { nextExecution: () => -1 }
  }
}

const requestOptions = (settings: CassandraSettings) => {
  const { localQuorum, localSerial, serial } = types.consistencies
  const agreed = settings.serialScope === 'local' ? localSerial : serial
  const common = { prepare: true, consistency: localQuorum, fetchSize: FETCH_ROWS }
  return {
    read: { ...common, isIdempotent: true },
    serial: { ...common, isIdempotent: true, consistency: agreed },
    conditional: { ...common, isIdempotent: false, serialConsistency: agreed },
    conditionalBatch: { ...common, isIdempotent: false, serialConsistency: agreed, logged: false },
  } satisfies Record<string, QueryOptions>
}

/** One literal for every plain write: objects of one shape are half the cost of copies. */
const writeOptions = ({ us, logged }: { us: number; logged: boolean }): QueryOptions => ({
  prepare: true,
  consistency: types.consistencies.localQuorum,
  isIdempotent: true,
  logged,
  timestamp: us,
})

interface Meter {
  succeeded(started: number): void
  failed(started: number): void
}

const metersOf = (
  telemetry: Telemetry,
  inFlight: () => number,
): Readonly<Record<Operation, Meter>> => {
  const seconds = telemetry.duration('tributary_tables_request_seconds', 'requests to Cassandra', [
    'operation',
    'outcome',
  ])
  telemetry.gauge('tributary_tables_in_flight', 'requests to Cassandra under way', {
    collect: (gauge) => gauge.set(inFlight()),
  })
  const meter = (operation: Operation): Meter => {
    const ok = seconds.labels({ operation, outcome: 'ok' })
    const failed = seconds.labels({ operation, outcome: 'failed' })
    return {
      succeeded: (started) => ok.observe((performance.now() - started) / 1000),
      failed: (started) => failed.observe((performance.now() - started) / 1000),
    }
  }
  return {
    read: meter('read'),
    serial: meter('serial'),
    write: meter('write'),
    batch: meter('batch'),
    conditional: meter('conditional'),
    conditional_batch: meter('conditional_batch'),
  }
}

/** An unprepared statement has to name the types of its numbers. */
const hintOf = (param: unknown): string => {
  if (typeof param === 'string') return 'text'
  assert(typeof param === 'number', 'unprepared statements bind text and int alone')
  return 'int'
}

/** Codes after which a write was certainly not begun. */
const notBegun: ReadonlySet<number> = new Set([
  types.responseErrorCodes.unavailableException,
  types.responseErrorCodes.isBootstrapping,
])
/** Codes that say our statement is wrong: a bug, and no error of the domain. */
const mistakes: ReadonlySet<number> = new Set([
  types.responseErrorCodes.protocolError,
  types.responseErrorCodes.syntaxError,
  types.responseErrorCodes.unauthorized,
  types.responseErrorCodes.invalid,
  types.responseErrorCodes.configError,
  types.responseErrorCodes.alreadyExists,
])

const translate = (error: unknown, kind: 'read' | 'write'): Error => {
  assert(error instanceof Error, 'the driver rejects with errors')
  if (isMistake(error)) {
    return new Error(`Cassandra refused a request: ${error.message}`, { cause: error })
  }
  if (kind === 'read' || certainlyNotDone(error)) {
    return new TablesUnavailableError(`Cassandra did not answer: ${error.message}`, {
      cause: error,
    })
  }
  return new OutcomeUnknownError(`Cassandra did not say whether it wrote: ${error.message}`, {
    cause: error,
  })
}

const isMistake = (error: Error): boolean =>
  error instanceof TypeError ||
  error instanceof errors.ArgumentError ||
  (error instanceof errors.ResponseError && mistakes.has(error.code))

const certainlyNotDone = (error: Error): boolean => {
  if (error instanceof errors.ResponseError) return notBegun.has(error.code)
  if (error instanceof errors.BusyConnectionError) return true
  if (!(error instanceof errors.NoHostAvailableError)) return neverWritten(error)
  // Each server tried has left an error, or a text when it was passed over as down.
  const tried: unknown[] = Object.values(error.innerErrors ?? {})
  return tried.every((inner) => !(inner instanceof Error) || certainlyNotDone(inner))
}

/** A socket that broke before the request went out. */
const neverWritten = (error: Error & { requestNotWritten?: boolean }): boolean =>
  error.requestNotWritten === true
