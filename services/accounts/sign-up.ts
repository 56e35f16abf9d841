/**
 * Sign-up: how a handle becomes an account, once, whoever asks at the same time and whatever crashes.
 *
 *   1. the password's hash is written under a fresh id, which nobody knows yet;
 *   2. the handle is claimed for that id: of many who try, one wins;
 *   3. the account and its event are committed.
 *
 * What makes a sign-up the same is the handle and the password, which only its owner knows. Who comes
 * with both after a crash between 2 and 3, or sends the form twice, goes on with the id that was
 * claimed, and gets the same account and the same event. To anybody else the handle is taken, until
 * the claim is `claimTakeoverMs` old and still has no account: then it can be taken over.
 *
 * A process that slept through that time between 2 and 3 finds the claim gone when it looks after its
 * commit, and takes its account back. Nobody was told the id of it, and no handle leads there.
 */
import { ConflictError } from '../kernel/errors.ts'
import { AccountCreated, makeEvent } from '../kernel/events.ts'
import { type AccountId, arrivalMs, type EventId, type IdGenerator } from '../kernel/ids.ts'
import type { Values } from '../kernel/settings.ts'
import { type Claim, claim, claimOf, type StandingClaim, takeOver } from '../platform/claims.ts'
import type { Clock } from '../platform/clock.ts'
import type { Commit } from '../platform/commit.ts'
import { remove, type Tables } from '../platform/tables.ts'
import type { Account } from './accounts.ts'
import {
  accounts,
  credentials,
  fromAccountRow,
  HANDLE_CLAIM,
  putAccount,
  putPassword,
  removePassword,
} from './accounts-tables.ts'
import type { Handle } from './handle.ts'
import type { Passwords } from './password.ts'
import { MEMBER_SCOPES } from './scopes.ts'
import type { accountSettings } from './settings.ts'

/** What was asked for, checked. */
export interface SignUpDraft {
  readonly handle: Handle
  readonly password: string
  readonly displayName: string
  readonly bio: string
  readonly isPrivate: boolean
}

export interface SignUpDependencies {
  readonly tables: Tables
  readonly commit: Commit
  readonly clock: Clock
  readonly ids: Pick<IdGenerator, 'next'>
  readonly passwords: Passwords
  readonly settings: Values<typeof accountSettings>
}

/** A claim that changed hands between two looks is looked at again. */
const ATTEMPTS_MAX = 4

export class SignUps {
  readonly #own: SignUpDependencies

  constructor(dependencies: SignUpDependencies) {
    this.#own = dependencies
  }

  /** The account of this draft; ConflictError when the handle is another's. */
  async finish(draft: SignUpDraft): Promise<Account> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      const standing = await claimOf(this.#own.tables, claimKey(draft), { serial: true })
      const account = standing ? await this.#meet(draft, standing) : await this.#begin(draft)
      if (account) return account
    }
    throw taken()
  }

  /** `undefined` when somebody else was first. */
  async #begin(draft: SignUpDraft): Promise<Account | undefined> {
    const hash = await this.#own.passwords.hash(draft.password)
    return await this.#attempt(draft, hash, async (id) => {
      const won = await claim(this.#own, { ...claimKey(draft), owner: id, draftHash: String(id) })
      return isFresh(won)
    })
  }

  /** The handle is claimed: by this very draft, by an account, or by nobody any more. */
  async #meet(draft: SignUpDraft, standing: StandingClaim): Promise<Account | undefined> {
    const { tables, passwords } = this.#own
    const accountId = standing.owner as AccountId
    const stored = await tables.get(credentials, { accountId })
    const row = await tables.get(accounts, { id: accountId })
    if (await passwords.verify(draft.password, stored?.password ?? undefined)) {
      return row ? fromAccountRow(row) : await this.#resume(draft, standing)
    }
    if (row || !this.#isAbandoned(standing)) throw taken()
    return await this.#replace(draft, standing)
  }

  /** Renews the claim, so that nobody takes it over meanwhile. */
  async #resume(draft: SignUpDraft, standing: StandingClaim): Promise<Account | undefined> {
    const from = this.#own.clock.now()
    const renewed = await takeOver(this.#own, standing, standing)
    return renewed ? await this.#create(draft, standing.owner as AccountId, from) : undefined
  }

  async #replace(draft: SignUpDraft, standing: StandingClaim): Promise<Account | undefined> {
    const hash = await this.#own.passwords.hash(draft.password)
    const account = await this.#attempt(draft, hash, (id) =>
      takeOver(this.#own, standing, { owner: id, draftHash: String(id) }),
    )
    if (account) await this.#own.tables.write([removePassword(standing.owner as AccountId)])
    return account
  }

  async #attempt(
    draft: SignUpDraft,
    hash: string,
    win: (id: AccountId) => Promise<boolean>,
  ): Promise<Account | undefined> {
    const { tables, clock, ids } = this.#own
    const id = ids.next<'account'>()
    const from = clock.now()
    await tables.write([putPassword(id, hash, from)])
    if (await win(id)) return await this.#create(draft, id, from)
    await tables.write([removePassword(id)])
    return undefined
  }

  async #create(draft: SignUpDraft, id: AccountId, claimedFrom: number): Promise<Account> {
    const { commit, clock, settings } = this.#own
    const account = accountOf(draft, id)
    await commit.commit([putAccount(account)], [createdEvent(account)])
    const slow = Math.abs(clock.now() - claimedFrom) > settings.claimTakeoverMs / 2
    if (slow) await this.#checkStillMine(account)
    return account
  }

  async #checkStillMine({ id, handle }: Account): Promise<void> {
    const { tables } = this.#own
    const standing = await claimOf(tables, claimKey({ handle }), { serial: true })
    if (standing?.owner === id) return
    await tables.write([remove(accounts, { id }), removePassword(id)])
    throw taken()
  }

  #isAbandoned({ claimedAt }: StandingClaim): boolean {
    return this.#own.clock.now() - claimedAt >= this.#own.settings.claimTakeoverMs
  }
}

export const claimKey = ({ handle }: { readonly handle: Handle }) => ({
  kind: HANDLE_CLAIM,
  name: handle,
})

const isFresh = ({ state }: Claim): boolean => state === 'fresh'

const taken = (): ConflictError =>
  new ConflictError('this handle is taken: choose another', { field: 'handle' })

/** Made of the draft and the id alone, so that it comes out the same when it is made again. */
const accountOf = (
  { handle, displayName, bio, isPrivate }: SignUpDraft,
  id: AccountId,
): Account => ({
  ...{ id, handle, displayName, bio, isPrivate },
  scopes: MEMBER_SCOPES,
  createdAt: arrivalMs(id),
})

const createdEvent = ({ id, handle, displayName, isPrivate, createdAt }: Account) =>
  makeEvent(
    AccountCreated,
    { id: id as bigint as EventId, at: createdAt },
    { accountId: id, handle, displayName, isPrivate },
  )
