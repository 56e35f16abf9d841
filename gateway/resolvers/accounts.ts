/** Accounts: who there is, and how one signs in. */
import type {
  AccountResolvers,
  MutationResolvers,
  QueryResolvers,
  Scope as ScopeName,
  SignInInput,
} from '../../schema/generated/resolvers-types.ts'
import type { Scope } from '../../services/accounts/accounts.ts'
import { viewerOf } from '../graphql/context.ts'
import type { ApiModule } from '../graphql/schema.ts'
import { toGlobalId } from '../relay/global-id.ts'
import { mutation } from './mutation.ts'

const Query = {
  viewer: async (_root, _args, { viewer, loaders }) =>
    (viewer && (await loaders.account.load(viewer.accountId))) ?? null,
  account: async (_root, { handle }, { services, viewer }) =>
    (await services.graph.seenByHandle(viewer?.accountId, handle)) ?? null,
} satisfies QueryResolvers

const Mutation = {
  signUp: mutation((input, { services }) => services.accounts.signUp(input)),
  signIn: mutation((input, { services }) => services.accounts.signIn(wanted(input))),
  refreshTokens: mutation(({ refreshToken }, { services }) =>
    services.accounts.refresh(refreshToken),
  ),
  signOut: mutation(async ({ refreshToken }, context) => {
    const { accounts } = context.services
    if (refreshToken == null) await accounts.signOut(viewerOf(context))
    else await accounts.signOutByToken(refreshToken)
    return { signedOut: true }
  }),
  updateProfile: mutation(async (input, context) => {
    const { accountId } = viewerOf(context)
    return { account: await context.services.accounts.updateProfile(accountId, input) }
  }),
} satisfies MutationResolvers

const Account = {
  id: ({ id }) => toGlobalId('Account', id),
} satisfies AccountResolvers

export const accountsApi: ApiModule = {
  resolvers: { Query, Mutation, Account },
  nodes: { Account: (id, { loaders }) => loaders.account.load(id) },
}

const wanted = ({ handle, password, scopes }: SignInInput) => ({
  ...{ handle, password },
  scopes: scopes?.map(scopeOf),
})

const scopeOf = (name: ScopeName): Scope => name.toLowerCase() as Lowercase<ScopeName>
