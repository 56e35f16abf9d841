/** The settings of the program's edge and of what operators see. */
import { choice, declare, int, list, text } from '../services/kernel/settings.ts'

export const serverSettings = declare('server', {
  mode: choice(['production', 'development'], {
    default: 'production',
    about: 'development tells more to whoever asks',
  }),
  roles: list({ default: ['all'], about: 'what this process does' }),
  host: text({ default: '127.0.0.1', about: 'the address to listen on' }),
  port: int({ default: 4000, min: 0, max: 65_535, about: 'the port to listen on; 0 picks one' }),
  drainMs: int({
    default: 25_000,
    min: 100,
    max: 600_000,
    unit: 'ms',
    about: 'time a stop may take before the process ends regardless',
  }),
  unreadyMs: int({
    default: 0,
    min: 0,
    max: 60_000,
    unit: 'ms',
    about: 'how long a stopping process still serves after it says that it is not ready',
  }),
  headersTimeoutMs: int({
    default: 10_000,
    min: 100,
    max: 120_000,
    unit: 'ms',
    about: 'time a client has to send the head of a request',
  }),
  requestTimeoutMs: int({
    default: 30_000,
    min: 100,
    max: 600_000,
    unit: 'ms',
    about: 'time a client has to send a whole request',
  }),
  headerBytesMax: int({
    default: 16_384,
    min: 1_024,
    max: 1_048_576,
    unit: 'bytes',
    about: 'largest head of a request',
  }),
  bodyBytesMax: int({
    default: 102_400,
    min: 1_024,
    max: 16_777_216,
    unit: 'bytes',
    about: 'largest body of a request',
  }),
  connectionsMax: int({
    default: 20_000,
    min: 1,
    max: 1_000_000,
    about: 'open connections; more are refused',
  }),
  probeMs: int({
    default: 1_000,
    min: 50,
    max: 60_000,
    unit: 'ms',
    about: 'how often the engines are asked whether they answer',
  }),
})

export const telemetrySettings = declare('telemetry', {
  level: choice(['silent', 'error', 'warn', 'info', 'debug'], {
    default: 'info',
    live: true,
    about: 'the least important lines that are printed',
  }),
  traces: choice(['on', 'off'], {
    default: 'on',
    about: 'whether requests have spans; without them lines and events have no trace ids',
  }),
  otlpUrl: text({
    default: '',
    pattern: /^$|^https?:\/\/\S+$/,
    shape: 'empty or an http(s) address',
    about: 'where spans are sent by OTLP over HTTP; empty for nowhere',
  }),
  otlpTimeoutMs: int({
    default: 5_000,
    min: 100,
    max: 60_000,
    unit: 'ms',
    about: 'time allowed for sending spans',
  }),
})
