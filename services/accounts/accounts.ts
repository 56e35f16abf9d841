/**
 * Accounts: who there is, and who is asking (ACC-1, 3, 6, 7).
 *
 * The door of the module. Signing up and in gives a short-lived access token, which says who asks and
 * what for, and a refresh token, which gets the next one (docs/adr/0016). A profile is public; what
 * an account does is judged by the modules that keep it.
 */
import type { AuditService } from '../audit/audit.ts'
import { NotFoundError, OverloadedError, UnauthenticatedError } from '../kernel/errors.ts'
import { AccountChanged, makeEvent } from '../kernel/events.ts'
import { type AccountId, formatId, type IdGenerator } from '../kernel/ids.ts'
import type { Values } from '../kernel/settings.ts'
import { claimOf, claimOwners } from '../platform/claims.ts'
import type { Clock } from '../platform/clock.ts'
import type { Commit } from '../platform/commit.ts'
import type { PubSub } from '../platform/pubsub.ts'
import { GET_MANY_MAX, type Tables } from '../platform/tables.ts'
import type { Telemetry } from '../platform/telemetry.ts'
import {
  accounts,
  credentials,
  fromAccountRow,
  HANDLE_CLAIM,
  putPassword,
  putProfile,
  putScopes,
} from './accounts-tables.ts'
import { checkHandle, type Handle, parseHandle } from './handle.ts'
import { SigningKeys } from './keys.ts'
import { Passwords } from './password.ts'
import { checkProfile, differing, type Profile, type ProfileChanges } from './profile.ts'
import { checkScopes, narrowScopes, type Scope } from './scopes.ts'
import { formatSid, parseSid, type SessionKey } from './session-key.ts'
import { SessionWatch } from './session-watch.ts'
import { type OpenedSession, Sessions } from './sessions.ts'
import type { accountSettings } from './settings.ts'
import { SignUps } from './sign-up.ts'
import { AccessTokens } from './tokens.ts'

export type { AccountId } from '../kernel/ids.ts'
export type { Handle } from './handle.ts'
export type { ProfileChanges } from './profile.ts'
export { SCOPES, type Scope } from './scopes.ts'

export interface Account {
  readonly id: AccountId
  readonly handle: Handle
  readonly displayName: string
  readonly bio: string
  /** Follows need the owner's consent, and posts are for followers. */
  readonly isPrivate: boolean
  /** What its sessions may be granted; nobody else's business. */
  readonly scopes: readonly Scope[]
  readonly createdAt: number
}

/** Who asks, as an access token shows. */
export interface Viewer {
  readonly accountId: AccountId
  /** The sign-in it belongs to: the `sid` of the token. */
  readonly sessionId: string
  readonly scopes: ReadonlySet<Scope>
  /** When the access token ends, ms since 1970. */
  readonly expiresAt: number
}

type SignedInAs = Pick<Viewer, 'accountId' | 'sessionId'>

export interface SignedIn {
  readonly account: Account
  readonly accessToken: string
  readonly refreshToken: string
  /** When the access token ends, ms since 1970. */
  readonly expiresAt: number
}

export interface SignUpInput extends ProfileChanges {
  readonly handle: string
  readonly password: string
}

export interface SignInInput {
  readonly handle: string
  readonly password: string
  /** All that the account has, unless fewer are asked for. */
  readonly scopes?: readonly Scope[] | undefined
}

export interface AccountDependencies {
  readonly tables: Tables
  readonly commit: Commit
  readonly pubsub: PubSub
  readonly clock: Clock
  readonly ids: Pick<IdGenerator, 'next'>
  readonly telemetry: Telemetry
  readonly audit: AuditService
  readonly settings: Values<typeof accountSettings>
}

/** What is looked up when nobody has the handle: the same reads, which find nothing. */
const NOBODY = { handle: '-' as Handle, id: 0n as AccountId }

export class AccountService {
  readonly #own: AccountDependencies
  readonly #passwords: Passwords
  readonly #signUps: SignUps
  readonly #keys: SigningKeys
  readonly #tokens: AccessTokens
  readonly #watch: SessionWatch
  readonly #sessions: Sessions
  readonly #signIns

  constructor(dependencies: AccountDependencies) {
    this.#own = dependencies
    this.#passwords = new Passwords(dependencies)
    this.#signUps = new SignUps({ ...dependencies, passwords: this.#passwords })
    this.#keys = new SigningKeys(dependencies)
    this.#tokens = new AccessTokens({ ...dependencies, keys: this.#keys })
    this.#watch = new SessionWatch(dependencies)
    this.#sessions = new Sessions({ ...dependencies, ended: (key) => this.#watch.announce(key) })
    this.#signIns = dependencies.telemetry.counter(
      'tributary_accounts_sign_ins_total',
      'attempts to sign in',
      ['outcome'],
    )
  }

  /** Makes the account and signs it in; the same again gives the same account. */
  async signUp({ handle: typed, password, ...profile }: SignUpInput): Promise<SignedIn> {
    const handle = checkHandle(typed)
    const { displayName = handle, bio = '', isPrivate = false } = this.#checked(profile)
    this.#passwords.check(password, handle)
    const draft = { handle, password, displayName, bio, isPrivate }
    return await this.#open(await this.#signUps.finish(draft), undefined)
  }

  /** Says the same, after the same work, whether the handle or the password is wrong. */
  async signIn({ handle: typed, password, scopes }: SignInInput): Promise<SignedIn> {
    const { tables } = this.#own
    const name = parseHandle(typed) ?? NOBODY.handle
    const claim = await claimOf(tables, { kind: HANDLE_CLAIM, name })
    const id = (claim?.owner ?? NOBODY.id) as AccountId
    const [account, stored] = await Promise.all([
      this.byId(id),
      tables.get(credentials, { accountId: id }),
    ])
    const hash = stored?.password ?? undefined
    const right = await this.#passwords.verify(password, hash)
    this.#signIns.inc({ outcome: right && account ? 'right' : 'wrong' })
    if (!right || !account || hash === undefined) {
      throw new UnauthenticatedError('the handle or the password is wrong', { field: 'password' })
    }
    await this.#strengthen(id, password, hash)
    return await this.#open(account, scopes)
  }

  /** Spends a refresh token for new ones. */
  async refresh(refreshToken: string): Promise<SignedIn> {
    const opened = await this.#sessions.refresh(refreshToken)
    const { accountId } = opened.session.key
    const account = await this.byId(accountId)
    if (!account) throw new UnauthenticatedError('this account is no more')
    return await this.#issue(account, opened)
  }

  /** Ends the session: its tokens are refused everywhere within a second. */
  async signOut(viewer: SignedInAs): Promise<void> {
    await this.#sessions.end(sessionOf(viewer), 'signed out')
  }

  /** The same, for a client whose access token has expired. */
  async signOutByToken(refreshToken: string): Promise<void> {
    await this.#sessions.endByToken(refreshToken)
  }

  /** Who sends this access token; UnauthenticatedError when it is not good, or its session ended. */
  async authenticate(accessToken: string): Promise<Viewer> {
    const { session, scopes, expiresAt } = await this.#tokens.check(accessToken)
    await this.#watch.admit(session)
    const { accountId } = session
    return { accountId, sessionId: formatSid(session), scopes: new Set(scopes), expiresAt }
  }

  /** Calls `ended` once when the viewer's session ends, wherever that happens. */
  watch(viewer: SignedInAs, ended: () => void): Disposable {
    return this.#watch.watch(sessionOf(viewer), ended)
  }

  /** The public keys as a JSON Web Key Set. */
  async keySet(): Promise<{ readonly keys: readonly object[] }> {
    return { keys: await this.#keys.published() }
  }

  async byId(id: AccountId): Promise<Account | undefined> {
    const row = await this.#own.tables.get(accounts, { id })
    return row && fromAccountRow(row)
  }

  /** The accounts in the order of the ids, `undefined` where there is none. */
  async byIds(ids: readonly AccountId[]): Promise<(Account | undefined)[]> {
    const found: (Account | undefined)[] = []
    for (let from = 0; from < ids.length; from += GET_MANY_MAX) {
      const keys = ids.slice(from, from + GET_MANY_MAX).map((id) => ({ id }))
      const rows = await this.#own.tables.getMany(accounts, keys)
      found.push(...rows.map((row) => row && fromAccountRow(row)))
    }
    return found
  }

  async byHandle(typed: string): Promise<Account | undefined> {
    const [account] = await this.byHandles([typed])
    return account
  }

  /** The accounts in the order of the handles, however they are typed; at most GET_MANY_MAX. */
  async byHandles(typed: readonly string[]): Promise<(Account | undefined)[]> {
    const names = typed.map((each) => parseHandle(each) ?? NOBODY.handle)
    const owners = await claimOwners(this.#own.tables, { kind: HANDLE_CLAIM, names })
    return await this.byIds(owners.map((owner) => (owner ?? NOBODY.id) as AccountId))
  }

  /** Changes what is named and leaves the rest; announces what is different after it. */
  async updateProfile(id: AccountId, asked: ProfileChanges): Promise<Account> {
    const { commit, clock, ids } = this.#own
    const wanted = this.#checked(asked)
    const account = await this.byId(id)
    if (!account) throw new NotFoundError('there is no such account', { field: 'id' })
    const changes = differing(account, wanted)
    if (Object.keys(changes).length === 0) return account
    const envelope = { id: ids.next<'event'>(), at: clock.now() }
    const event = makeEvent(AccountChanged, envelope, { accountId: id, ...changes })
    await commit.commit([putProfile(id, changes)], [event])
    return { ...account, ...changes }
  }

  /**
   * What sessions of the account may do: more comes with a new sign-in, less with the next refresh.
   * Who said so is kept.
   */
  async grant(handle: string, words: readonly string[], actor: string): Promise<Account> {
    const { tables, clock, ids, audit } = this.#own
    const scopes = checkScopes(words)
    const account = await this.byHandle(handle)
    if (!account) throw new NotFoundError('nobody has this handle', { field: 'handle' })
    const entry = audit.entry({
      id: ids.next(),
      at: clock.now(),
      actor,
      action: 'account.granted',
      subject: formatId(account.id),
      detail: `${account.scopes.join(' ')} → ${scopes.join(' ')}`,
    })
    await tables.write([putScopes(account.id, scopes), entry])
    return { ...account, scopes }
  }

  /** Hears of sessions that end in other processes, until disposed. */
  follow(): Promise<AsyncDisposable> {
    return this.#watch.follow()
  }

  #checked(profile: ProfileChanges): Profile {
    return checkProfile(profile, this.#own.settings)
  }

  async #open(account: Account, asked: readonly Scope[] | undefined): Promise<SignedIn> {
    const scopes = narrowScopes(account.scopes, asked)
    return await this.#issue(account, await this.#sessions.open(account.id, scopes))
  }

  /** A grant taken back since the sign-in is in no new token. */
  async #issue(account: Account, opened: OpenedSession): Promise<SignedIn> {
    const { session, refreshToken } = opened
    const scopes = session.scopes.filter((scope) => account.scopes.includes(scope))
    const token = await this.#tokens.issue({ session: session.key, scopes }, session.expiresAt)
    return { account, accessToken: token.text, refreshToken, expiresAt: token.expiresAt }
  }

  /** When the cost of hashing rose; under load it can wait for another sign-in. */
  async #strengthen(id: AccountId, password: string, hash: string): Promise<void> {
    if (!this.#passwords.isWeak(hash)) return
    try {
      const stronger = await this.#passwords.hash(password)
      await this.#own.tables.write([putPassword(id, stronger, this.#own.clock.now())])
    } catch (error) {
      if (!(error instanceof OverloadedError)) throw error
      this.#own.telemetry.log.debug({ err: error }, 'a password is hashed again another time')
    }
  }
}

const sessionOf = ({ accountId, sessionId }: SignedInAs): SessionKey =>
  parseSid(sessionId, accountId)
