/** Accounts: who there is, and how one signs in. */
import type {
  MutationResolvers,
  QueryResolvers,
  Scope as ScopeName,
  SignInInput,
} from '../../schema/generated/resolvers-types.ts'
import type { Scope, SignedIn } from '../../services/accounts/accounts.ts'
import { viewerOf } from '../graphql/context.ts'
import type { ApiModule } from '../graphql/schema.ts'
import { accountView } from '../views.ts'
import { mutation } from './mutation.ts'

const Query = {
  viewer: async (_root, _args, { viewer, loaders }) =>
    accountView(viewer && (await loaders.account.load(viewer.accountId))),
  account: async (_root, { handle }, { services, viewer }) =>
    accountView(await services.graph.seenByHandle(viewer?.accountId, handle)),
} satisfies QueryResolvers

const Mutation = {
  signUp: mutation(async (input, { services }) => tokens(await services.accounts.signUp(input))),
  signIn: mutation(async (input, { services }) =>
    tokens(await services.accounts.signIn(wanted(input))),
  ),
  refreshTokens: mutation(async ({ refreshToken }, { services }) =>
    tokens(await services.accounts.refresh(refreshToken)),
  ),
  signOut: mutation(async ({ refreshToken }, context) => {
    const { accounts } = context.services
    if (refreshToken == null) await accounts.signOut(viewerOf(context))
    else await accounts.signOutByToken(refreshToken)
    return { signedOut: true }
  }),
  updateProfile: mutation(async (input, context) => {
    const { accountId } = viewerOf(context)
    return { account: accountView(await context.services.accounts.updateProfile(accountId, input)) }
  }),
} satisfies MutationResolvers

export const accountsApi: ApiModule = {
  resolvers: { Query, Mutation },
  nodes: {
    Account: async (id, { loaders }) => accountView(await loaders.account.load(id)) ?? undefined,
  },
}

const tokens = ({ account, ...issued }: SignedIn) => ({ ...issued, account: accountView(account) })

const wanted = ({ handle, password, scopes }: SignInInput) => ({
  ...{ handle, password },
  scopes: scopes?.map(scopeOf),
})

const scopeOf = (name: ScopeName): Scope => name.toLowerCase() as Lowercase<ScopeName>
