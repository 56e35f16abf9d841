/**
 * The tracer of the process: spans with W3C ids that follow asynchronous calls.
 *
 * It always runs, so that log lines, events and dead letters carry trace ids; spans leave the
 * process only when an address to send them to is configured, and only then is the exporter loaded.
 */
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-node'

export interface TracingOptions {
  /** The OTLP endpoint over HTTP, `http://host:4318/v1/traces`; empty for none. */
  readonly otlpUrl: string
  readonly version: string
  readonly exportTimeoutMs: number
}

/** Registers the tracer for the whole process. Disposing it sends what is still waiting. */
export const startTracing = async (options: TracingOptions): Promise<AsyncDisposable> => {
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({
      'service.name': 'tributary',
      'service.version': options.version,
    }),
    spanProcessors: options.otlpUrl === '' ? [] : [await exporting(options)],
  })
  provider.register()
  return { [Symbol.asyncDispose]: () => provider.shutdown() }
}

const exporting = async ({ otlpUrl, exportTimeoutMs }: TracingOptions): Promise<SpanProcessor> => {
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http')
  const exporter = new OTLPTraceExporter({ url: otlpUrl, timeoutMillis: exportTimeoutMs })
  return new BatchSpanProcessor(exporter, {
    maxQueueSize: 4096,
    maxExportBatchSize: 512,
    scheduledDelayMillis: 1000,
    exportTimeoutMillis: exportTimeoutMs,
  })
}
