/** What every resolver of one request shares. */

import type { Viewer } from '../../services/accounts/accounts.ts'
import type { Services } from '../../services/compose.ts'
import { UnauthenticatedError } from '../../services/kernel/errors.ts'
import { type Loaders, openLoaders } from '../loaders.ts'
import type { Cursors } from '../relay/cursor.ts'

export interface RequestContext {
  readonly viewer: Viewer | undefined
  readonly services: Services
  readonly loaders: Loaders
  readonly cursors: Cursors
  /** Every field of the operation, as `Type.field`: what a list may have read for its entries. */
  readonly asked: ReadonlySet<string>
}

export interface ContextDependencies {
  readonly services: Services
  readonly cursors: Cursors
}

/** Opens the context of an operation; without what it asks when there is none to run. */
export type ContextOpener = (
  viewer: Viewer | undefined,
  asked: ReadonlySet<string> | undefined,
) => RequestContext

const NOTHING_ASKED: ReadonlySet<string> = new Set()

export const contextOpener =
  ({ services, cursors }: ContextDependencies): ContextOpener =>
  (viewer, asked = NOTHING_ASKED) => ({
    ...{ viewer, services, cursors, asked },
    loaders: openLoaders({ services, viewer }),
  })

/** The caller of a field that needs a scope: admission has seen the token. */
export const viewerOf = ({ viewer }: Pick<RequestContext, 'viewer'>): Viewer => {
  if (viewer) return viewer
  throw new UnauthenticatedError('sign in first')
}
