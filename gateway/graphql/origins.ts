/** Which web pages may call: those of this very host, and those on the list. */
import type { IncomingHttpHeaders } from 'node:http'

type Head = Pick<IncomingHttpHeaders, 'origin' | 'host'>

const isListed = (origin: string, allowed: readonly string[]): boolean => allowed.includes(origin)

/** A program that is no browser sends no origin, and needs no leave. */
export const mayOpenSocket = ({ origin, host }: Head, allowed: readonly string[]): boolean =>
  origin === undefined || isListed(origin, allowed) || isSameHost(origin, host)

const isSameHost = (origin: string, host: string | undefined): boolean =>
  host !== undefined && URL.canParse(origin) && new URL(origin).host === host

/** The headers that let a page of another origin read an answer; none for one that may not. */
export const crossOriginHeaders = (
  { origin }: Head,
  allowed: readonly string[],
): Readonly<Record<string, string>> => {
  if (allowed.length === 0) return {}
  // A cache must not hand the answer for one origin to another.
  if (origin === undefined || !isListed(origin, allowed)) return { vary: 'origin' }
  return { vary: 'origin', 'access-control-allow-origin': origin }
}

export const PREFLIGHT_HEADERS: Readonly<Record<string, string>> = {
  'access-control-allow-methods': 'GET, POST',
  'access-control-allow-headers':
    'authorization, content-type, apollo-require-preflight, x-apollo-operation-name',
  'access-control-max-age': '600',
}
