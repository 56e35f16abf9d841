/**
 * Making a post, once, whoever asks again and whatever crashes (POS-1, POS-2).
 *
 * A post, its place in its author's list and among the replies, and its event are one commit. Without
 * an idempotency key that is all. With one, the key is claimed first for the id of the post and the
 * draft: who comes with both again, after a crash or through another gateway, goes on with that id.
 * Rows are versioned by the id and the event has it too, so the second making changes nothing.
 *
 * What may come out differently when it is made again (who has a mentioned handle, which part of the
 * replies is open) is harmless: one of the two stands, and a reply is listed by the part that its
 * post names.
 */
import type { AccountService } from '../accounts/accounts.ts'
import { ConflictError } from '../kernel/errors.ts'
import { type AccountId, arrivalMs, type IdGenerator, type PostId } from '../kernel/ids.ts'
import { type ClaimDraft, claim, claimOf } from '../platform/claims.ts'
import type { Clock } from '../platform/clock.ts'
import type { Commit } from '../platform/commit.ts'
import type { PartedLists } from '../platform/parted-lists.ts'
import type { Tables } from '../platform/tables.ts'
import type { Telemetry } from '../platform/telemetry.ts'
import { type Content, checkContent, type Mention } from './content.ts'
import {
  checkClientTime,
  checkKey,
  draftHash,
  type PostDraft,
  type PostLimits,
  type Writing,
} from './draft.ts'
import type { Original, Post, ReplyTo } from './post.ts'
import { createdEvent } from './post-events.ts'
import { createdWrites, repliesList } from './post-tables.ts'
import { checkResharable } from './reshare.ts'
import type { Sight } from './sight.ts'

export const POST_CLAIM = 'post'

export interface CreationDependencies {
  readonly tables: Tables
  readonly commit: Commit
  readonly clock: Clock
  readonly ids: Pick<IdGenerator, 'next'>
  readonly lists: PartedLists
  readonly telemetry: Telemetry
  readonly accounts: Pick<AccountService, 'byIds' | 'byHandles'>
  readonly sight: Sight
  readonly settings: PostLimits
}

/** What a post is made of besides its draft: looked up before anything is written. */
interface Findings {
  readonly mentions: readonly Mention[]
  readonly replyTo?: ReplyTo
  readonly original?: Original
}

export class Creation {
  readonly #own: CreationDependencies

  constructor(dependencies: CreationDependencies) {
    this.#own = dependencies
  }

  async create(author: AccountId, draft: PostDraft, key: string | undefined): Promise<Post> {
    checkClientTime(draft, this.#own.clock.now(), this.#own.settings)
    const wanted = key === undefined ? undefined : this.#claimOf(author, draft, key)
    // What a finished post answers may be gone by now: that does not unmake it.
    const made = wanted && pointsElsewhere(draft) ? await this.#madeBefore(wanted) : undefined
    if (made) return made
    const findings = await this.#find(author, draft)
    if (!wanted) return await this.#make(composePost(draft, this.#newId(), author, findings))
    return await this.#makeOnce(wanted, (id) => composePost(draft, id, author, findings))
  }

  /** The accounts behind the handles of a text; who has none is only text. */
  async mentions({ pointers: { handles } }: Writing): Promise<readonly Mention[]> {
    if (handles.length === 0) return []
    const found = await this.#own.accounts.byHandles(handles)
    const mentions = found.flatMap((account) =>
      account ? [[account.id, { accountId: account.id, handle: account.handle }] as const] : [],
    )
    return [...new Map(mentions).values()]
  }

  async #makeOnce(wanted: ClaimDraft, compose: (id: PostId) => Post): Promise<Post> {
    const { state, owner } = await claim(this.#own, wanted)
    if (state === 'taken') throw keyTaken()
    const id = owner as PostId
    const made = state === 'again' ? await this.#own.sight.fact(id) : undefined
    return made ? standing(made) : await this.#make(compose(id))
  }

  async #madeBefore({ kind, name, draftHash: hash }: ClaimDraft): Promise<Post | undefined> {
    const { tables, sight } = this.#own
    const known = await claimOf(tables, { kind, name })
    if (!known) return undefined
    if (known.draftHash !== hash) throw keyTaken()
    const made = await sight.fact(known.owner as PostId)
    return made && standing(made)
  }

  async #make(post: Post): Promise<Post> {
    await this.#own.commit.commit(createdWrites(post), [createdEvent(post)])
    if (post.replyTo) await this.#added(post.replyTo, post.id)
    return post
  }

  /** The post is made: a part that stays open a little longer is no reason to say otherwise. */
  async #added({ id: owner, part }: ReplyTo, version: PostId): Promise<void> {
    const { lists, telemetry } = this.#own
    try {
      await lists.added(repliesList, { owner, part, version })
    } catch (error) {
      telemetry.log.warn({ err: error }, 'a part of replies could not be measured')
    }
  }

  async #find(author: AccountId, draft: PostDraft): Promise<Findings> {
    const [mentions, replyTo, original] = await Promise.all([
      this.mentions(draft),
      draft.replyToId === undefined ? undefined : this.#replyTo(author, draft.replyToId),
      draft.reshareOfId === undefined ? undefined : this.#original(author, draft.reshareOfId),
    ])
    return { mentions, ...(replyTo ? { replyTo } : {}), ...(original ? { original } : {}) }
  }

  async #replyTo(author: AccountId, id: PostId): Promise<ReplyTo> {
    const { sight, lists } = this.#own
    const parent = await sight.target(author, id, 'replyToId')
    const part = await lists.openPart(repliesList, parent.id)
    const rootId = parent.replyTo?.rootId ?? parent.id
    return { id: parent.id, authorId: parent.authorId, rootId, part }
  }

  async #original(actor: AccountId, id: PostId): Promise<Original> {
    const original = await this.#own.sight.target(actor, id, 'reshareOfId')
    await checkResharable(this.#own.accounts, actor, original)
    return { id: original.id, authorId: original.authorId }
  }

  #claimOf(author: AccountId, draft: PostDraft, key: string): ClaimDraft {
    const name = `${author}:${checkKey(key)}`
    return { kind: POST_CLAIM, name, owner: this.#newId(), draftHash: draftHash(draft) }
  }

  #newId(): PostId {
    return this.#own.ids.next<'post'>()
  }
}

const pointsElsewhere = ({ replyToId, reshareOfId }: PostDraft): boolean =>
  replyToId !== undefined || reshareOfId !== undefined

const keyTaken = (): ConflictError =>
  new ConflictError('this idempotency key was used for another post: take a new one', {
    field: 'idempotencyKey',
  })

const standing = (post: Post): Post => {
  if (post.deletedAt === undefined) return post
  throw new ConflictError('the post made with this idempotency key has been deleted', {
    field: 'idempotencyKey',
  })
}

/** Made of these alone, so that it comes out the same when it is made again. */
const composePost = (
  draft: PostDraft,
  id: PostId,
  authorId: AccountId,
  { mentions, replyTo, original }: Findings,
): Post => {
  const arrivedAt = arrivalMs(id)
  return {
    ...{ id, version: id, authorId, visibility: draft.visibility },
    orderedAt: Math.min(draft.clientTs ?? arrivedAt, arrivedAt),
    content: contentOf(draft, mentions),
    ...(replyTo ? { replyTo } : {}),
    ...(original ? { original } : {}),
    ...{ isReshare: false, edits: 0 },
  }
}

const contentOf = (
  { text, link, pointers: { hashtags } }: Writing,
  mentions: readonly Mention[],
): Content => checkContent({ text, ...(link === undefined ? {} : { link }), mentions, hashtags })
