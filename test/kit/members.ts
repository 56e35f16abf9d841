/** Members: people with accounts in a world, who do anything the API offers. */
import { parseIdOf } from '../../gateway/relay/global-id.ts'
import type { AccountId } from '../../services/accounts/accounts.ts'
import type { World } from './world.ts'

export interface Refused {
  readonly code: string
  readonly field: string | null
}

/** The payload of a mutation. */
export type Payload<Entity = object> = Entity & { readonly userErrors: readonly Refused[] }

const SIGN_UP = `mutation ($input: SignUpInput!) {
  signUp(input: $input) { accessToken account { id handle } userErrors { code field message } }
}`

interface SignedUp {
  readonly signUp: {
    readonly accessToken: string
    readonly account: { readonly id: string; readonly handle: string }
  }
}

export class Member {
  readonly handle: string
  readonly accessToken: string
  /** As the API knows it. */
  readonly id: string
  readonly #world: World

  constructor(world: World, { accessToken, account }: SignedUp['signUp']) {
    this.#world = world
    this.accessToken = accessToken
    this.id = account.id
    this.handle = account.handle
  }

  /** As the services know it. */
  get accountId(): AccountId {
    return parseIdOf('Account', this.id) as AccountId
  }

  /** Asks and gets the data; any error of the operation fails the test. */
  async ask<Data>(
    document: string,
    variables: Readonly<Record<string, unknown>> = {},
  ): Promise<Data> {
    const { data, errors } = await this.#world.graphql<Data>(this, document, variables)
    if (errors.length > 0 || data == null) throw new Error(JSON.stringify(errors))
    return data
  }

  /** One mutation by its name, its input and what to select of its payload. */
  async does<Entity>(name: string, input: object, selection: string): Promise<Payload<Entity>> {
    const type = `${INPUTS[name] ?? `${name.charAt(0).toUpperCase()}${name.slice(1)}Input`}`
    const document = `mutation ($input: ${type}!) {
      ${name}(input: $input) { ${selection} userErrors { code field } }
    }`
    const data = await this.ask<Record<string, Payload<Entity>>>(document, { input })
    const payload = data[name]
    if (!payload) throw new Error(`${name} has no payload`)
    return payload
  }
}

/** Mutations whose input is not named after them. */
const INPUTS: Readonly<Record<string, string>> = Object.fromEntries(
  [
    'follow',
    'unfollow',
    'acceptFollowRequest',
    'refuseFollowRequest',
    'removeFollower',
    'block',
    'unblock',
    'mute',
    'unmute',
  ].map((name) => [name, 'RelationInput']),
)

export const signUp = async (
  world: World,
  handle: string,
  profile: { readonly isPrivate?: boolean } = {},
): Promise<Member> => {
  const input = { handle, password: 'correct horse', ...profile }
  const { data, errors } = await world.graphql<SignedUp>(undefined, SIGN_UP, { input })
  if (!data?.signUp.account) throw new Error(`${handle} got no account: ${JSON.stringify(errors)}`)
  return new Member(world, data.signUp)
}
