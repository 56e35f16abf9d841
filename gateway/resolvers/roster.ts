/** The domains of the API, one file each, in the order of their modules. */
import type { ApiModule } from '../graphql/schema.ts'
import { accountsApi } from './accounts.ts'
import { engagementApi } from './engagement.ts'
import { graphApi } from './graph.ts'
import { postsApi } from './posts.ts'

export const apiModules: readonly ApiModule[] = [accountsApi, graphApi, postsApi, engagementApi]
