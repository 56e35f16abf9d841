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
}

export interface ContextDependencies {
  readonly services: Services
  readonly cursors: Cursors
}

export const openContext = (
  { services, cursors }: ContextDependencies,
  viewer: Viewer | undefined,
): RequestContext => ({ viewer, services, cursors, loaders: openLoaders({ services, viewer }) })

/** The caller of a field that needs a scope: admission has seen the token. */
export const viewerOf = ({ viewer }: Pick<RequestContext, 'viewer'>): Viewer => {
  if (viewer) return viewer
  throw new UnauthenticatedError('sign in first')
}
