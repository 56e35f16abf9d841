/**
 * Links: the address as its author gave it, and a canonical form by which copies of one page are told
 * (FEE-4). The canonical form is a key and never shown or fetched, so it may drop what hardly ever
 * changes the page: scheme, fragment, order of parameters, what counts visitors. It keeps what may:
 * `www`, a slash at the end, the case of the path, the order of equal parameters.
 */
import { BadInputError } from '../kernel/errors.ts'

/** Parameters that say where a visitor came from. */
const TRACKING =
  /^(utm_\w+|fbclid|gclid|gclsrc|dclid|gbraid|wbraid|msclkid|yclid|twclid|ttclid|li_fat_id|igshid|igsh|mc_[ce]id|_ga|_gl|_hsenc|_hsmi|__hs\w+|mkt_tok|oly_(anon|enc)_id|vero_id|wickedid|s_cid|cmpid)$/i

/** The address as it is shown. */
export const checkLink = (typed: string, max: number): string => {
  const url = typed.length > max ? undefined : parse(typed.trim())
  if (!url) throw wrong(`a link is an address of at most ${max} characters`)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw wrong('a link begins with https:// or http://')
  }
  if (url.username !== '' || url.password !== '') throw wrong('a link carries no name or password')
  if (url.href.length > max) throw wrong(`a link is an address of at most ${max} characters`)
  return url.href
}

const parse = (text: string): URL | undefined => (URL.canParse(text) ? new URL(text) : undefined)

const wrong = (message: string): BadInputError => new BadInputError(message, { field: 'link' })

/** Of an address that `checkLink` gave: host and path first, so that it is no address itself. */
export const canonicalLink = (link: string): string => {
  const url = new URL(link)
  const host = url.host.replace(/\.(?=:|$)/, '')
  const query = canonicalQuery(url.searchParams)
  const path = canonicalEscapes(url.pathname)
  return `${host}${path}${query === '' ? '' : `?${query}`}${routeOf(url.hash)}`
}

const canonicalQuery = (parameters: URLSearchParams): string => {
  const kept = [...parameters].filter(([name]) => !TRACKING.test(name))
  // Only names are compared and sorting is stable: equal parameters keep their order.
  kept.sort(([a], [b]) => (a < b ? -1 : Number(a > b)))
  return new URLSearchParams(kept).toString()
}

/** `%7e` and `~` are one; what has a meaning when it is not escaped stays escaped. */
const canonicalEscapes = (path: string): string =>
  path.replace(/%[0-9a-f]{2}/gi, (escaped) => {
    const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16))
    return /[A-Za-z0-9._~-]/.test(character) ? character : escaped.toUpperCase()
  })

/** A fragment is a place in a page, unless a page made by scripts uses it as its path. */
const routeOf = (hash: string): string => (/^#!?\//.test(hash) ? hash : '')
