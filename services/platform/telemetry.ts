/**
 * What operators see: metrics (Prometheus), structured lines (pino) and spans (OpenTelemetry).
 *
 * The one file of the platform besides the adapters that knows libraries. Metric names end in
 * their unit (`_seconds`, `_bytes`, `_total`); labels have few values, never a user or a name a
 * client chose. A span's context travels in events as `traceparent`, so that one trace runs from
 * the request to the last worker.
 */
import {
  context,
  isSpanContextValid,
  propagation,
  type Span,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { type Logger, pino } from 'pino'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

export type Labels = Readonly<Record<string, string>>

/** 1 ms to 10 s: from a cache read to the longest time-out. */
const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export interface TelemetryOptions {
  readonly level: 'silent' | 'error' | 'warn' | 'info' | 'debug'
  readonly version: string
}

export class Telemetry {
  readonly registry = new Registry()
  readonly log: Logger
  readonly #tracer

  constructor({ level, version }: TelemetryOptions) {
    this.log = pino({
      level,
      base: { version },
      timestamp: pino.stdTimeFunctions.isoTime,
      mixin: currentTrace,
    })
    this.#tracer = trace.getTracer('tributary', version)
  }

  /** The metrics of the process itself: memory, event loop, garbage collection. */
  collectProcessMetrics(): void {
    collectDefaultMetrics({ register: this.registry })
  }

  counter<Names extends string = never>(name: string, help: string, labels: readonly Names[] = []) {
    return this.#once(
      name,
      () => new Counter({ name, help, labelNames: [...labels], registers: [this.registry] }),
    )
  }

  gauge<Names extends string = never>(
    name: string,
    help: string,
    options: {
      readonly labels?: readonly Names[]
      readonly collect?: (gauge: Gauge<Names>) => void | Promise<void>
    } = {},
  ) {
    const { labels = [], collect } = options
    return this.#once(name, () => {
      const gauge: Gauge<Names> = new Gauge<Names>({
        name,
        help,
        labelNames: [...labels],
        registers: [this.registry],
        ...(collect ? { collect: () => collect(gauge) } : {}),
      })
      return gauge
    })
  }

  /** A histogram of seconds. */
  duration<Names extends string = never>(
    name: string,
    help: string,
    labels: readonly Names[] = [],
  ) {
    return this.#once(
      name,
      () =>
        new Histogram({
          name,
          help,
          labelNames: [...labels],
          buckets: DURATION_BUCKETS,
          registers: [this.registry],
        }),
    )
  }

  /** Runs `work` in a span; `parent` is a `traceparent` from elsewhere. A failure marks the span. */
  async span<Result>(
    name: string,
    options: { readonly attributes?: Labels; readonly parent?: string | undefined },
    work: (span: Span) => Promise<Result>,
  ): Promise<Result> {
    const { attributes = {}, parent } = options
    const origin = parent
      ? propagation.extract(context.active(), { traceparent: parent })
      : context.active()
    return this.#tracer.startActiveSpan(name, { attributes }, origin, async (span) => {
      try {
        return await work(span)
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR })
        if (error instanceof Error) span.recordException(error)
        throw error
      } finally {
        span.end()
      }
    })
  }

  /** The current trace as headers for an event; empty outside a trace. */
  traceHeaders(): Record<string, string> {
    const headers: Record<string, string> = {}
    propagation.inject(context.active(), headers)
    return headers
  }

  /** The id of the current trace; nothing outside a trace. */
  traceId(): string | undefined {
    return activeTrace()?.traceId
  }

  /** One metric per name, however many components ask for it. */
  #once<Metric extends object>(name: string, make: () => Metric): Metric {
    return (this.registry.getSingleMetric(name) as Metric | undefined) ?? make()
  }
}

/** Without a tracer there are spans, but of no trace. */
const activeTrace = () => {
  const active = trace.getActiveSpan()?.spanContext()
  return active && isSpanContextValid(active) ? active : undefined
}

const currentTrace = (): object => {
  const active = activeTrace()
  return active ? { traceId: active.traceId, spanId: active.spanId } : {}
}
