/**
 * Random histories of posts, made by two processes of which one has a clock 10 s behind and dies at
 * every third commit, before or after it, compared with a map. What was decided stands, whatever died:
 * copies, history, lists, counts and events follow from it in the end.
 */
import { describe, expect, test } from 'vitest'
import type { AccountId } from '../../services/accounts/accounts.ts'
import {
  type Event,
  PostCreated,
  PostDeleted,
  PostEdited,
  topics,
  VisibilityChanged,
} from '../../services/kernel/events.ts'
import { IdGenerator } from '../../services/kernel/ids.ts'
import type { Commit } from '../../services/platform/commit.ts'
import { postChanges, reshares } from '../../services/platform/generated/tables.ts'
import type { Post, PostId, PostService, Visibility } from '../../services/post/post.ts'
import { counting } from '../../workers/count.ts'
import { defineWorker, on } from '../../workers/kit.ts'
import { CrashError } from '../kit/accounts.ts'
import { Dice, seeds } from '../kit/dice.ts'
import { type EngineName, engines } from '../kit/engines.ts'
import { Person } from '../kit/people.ts'
import { accountIdOf, postSibling } from '../kit/posts.ts'
import { World } from '../kit/world.ts'

const STEPS: Readonly<Record<EngineName, number>> = { embedded: 120, cluster: 40 }
const RUNS: Readonly<Record<EngineName, number>> = { embedded: 3, cluster: 1 }
const PEOPLE = 3

/** What is known of a post. */
interface Known {
  readonly id: PostId
  readonly author: AccountId
  readonly orderedAt: number
  readonly replyTo: PostId | undefined
  readonly original: PostId | undefined
  readonly isReshare: boolean
  text: string
  visibility: Visibility
  history: string[]
  isDeleted: boolean
  /** Of which an event must tell. */
  changes: number
}

/** Posts as simply as they can be said. */
class PostsModel {
  readonly posts = new Map<PostId, Known>()

  get standing(): Known[] {
    return [...this.posts.values()].filter(({ isDeleted }) => !isDeleted)
  }

  made(post: Post): void {
    if (this.posts.has(post.id)) return
    this.posts.set(post.id, {
      ...{ id: post.id, author: post.authorId, orderedAt: post.orderedAt },
      ...{ replyTo: post.replyTo?.id, original: post.original?.id, isReshare: post.isReshare },
      ...{ text: post.content.text, visibility: post.visibility },
      ...{ history: [], isDeleted: false, changes: 1 },
    })
  }

  edited(post: Known, text: string): void {
    if (post.text === text) return
    post.history.unshift(post.text)
    post.text = text
    post.changes += 1
  }

  shown(post: Known, visibility: Visibility): void {
    if (post.visibility === visibility) return
    post.visibility = visibility
    post.changes += 1
  }

  deleted(post: Known | undefined): void {
    if (!post || post.isDeleted) return
    post.isDeleted = true
    post.changes += 1
  }

  reshareOf(actor: AccountId, original: PostId): Known | undefined {
    return this.standing.find(
      (post) => post.isReshare && post.author === actor && post.original === original,
    )
  }

  /** Those that count for a post or an author. */
  count(relates: (post: Known) => boolean): number {
    return this.standing.filter(relates).length
  }
}

const heard = new Map<PostId, Set<bigint>>()
const hear = async ({ id, data }: Event) => {
  const post = data['postId'] as PostId
  heard.set(post, (heard.get(post) ?? new Set()).add(id))
}
const listener = defineWorker({
  name: 'listener',
  role: 'audit',
  topic: topics.posts,
  handlers: [
    on(PostCreated, hear),
    on(PostEdited, hear),
    on(PostDeleted, hear),
    on(VisibilityChanged, hear),
  ],
})

/** Dies at every third commit: before it, or just after. */
const dyingCommit = (commit: Commit, dice: Dice): Commit => ({
  commit: async (writes, events) => {
    const fate = dice.below(6)
    if (fate === 0) throw new CrashError('before the commit')
    await commit.commit(writes, events)
    if (fate === 1) throw new CrashError('after the commit')
  },
  published: () => commit.published(),
  oldestUnpublishedMs: () => commit.oldestUnpublishedMs(),
  [Symbol.asyncDispose]: async () => {},
})

class History {
  readonly #world: World
  readonly #dice: Dice
  readonly #people: readonly AccountId[]
  readonly #processes: readonly PostService[]
  readonly model = new PostsModel()
  #keys = 0

  constructor(world: World, dice: Dice, people: readonly AccountId[]) {
    this.#world = world
    this.#dice = dice
    this.#people = people
    const behind = new IdGenerator(() => world.clock.now() - 10_000, {
      ...{ node: 1_000, afterMs: 0, untilMs: Number.MAX_SAFE_INTEGER },
    })
    const commit = dyingCommit(world.platform.commit, dice)
    this.#processes = [world.services.posts, postSibling(world, { commit, ids: behind })]
  }

  async step(): Promise<void> {
    const { standing } = this.model
    const mine = standing.filter(({ isReshare }) => !isReshare)
    const pick = this.#dice.below(mine.length < 3 ? 1 : 12)
    if (pick <= 3) return await this.#create(mine)
    const post = this.#dice.pick(mine)
    if (pick <= 6) return await this.#edit(post)
    if (pick === 7) return await this.#show(post)
    if (pick === 8) return await this.#delete(this.#dice.pick([...this.model.posts.values()]))
    if (pick === 11) return await this.#repair()
    const open = mine.filter(({ visibility }) => visibility === 'PUBLIC')
    if (open.length > 0) await this.#turnReshare(this.#dice.pick(open), pick === 9)
  }

  /** With a key, and again until it is answered: what every client should do. */
  async #create(others: readonly Known[]): Promise<void> {
    const author = this.#dice.pick(this.#people)
    const seen = others.filter((post) => post.author === author || post.visibility === 'PUBLIC')
    const other = seen.length > 0 && this.#dice.below(2) === 0 ? this.#dice.pick(seen) : undefined
    const mayQuote = other && (other.author === author || other.visibility === 'PUBLIC')
    this.#keys += 1
    const draft = {
      ...{ text: `text ${this.#keys}`, idempotencyKey: `key-${this.#keys}` },
      ...(other && this.#dice.below(2) === 0 ? { replyToId: other.id } : {}),
      ...(mayQuote && this.#dice.below(3) === 0 ? { reshareOfId: other.id } : {}),
    }
    let post: Post | undefined
    while (!post) post = await this.#survive((posts) => posts.create(author, draft))
    this.model.made(post)
  }

  async #edit(post: Known): Promise<void> {
    const text = `text ${this.#dice.below(1_000)}`
    const decided = await this.#decides(post, (posts) => posts.edit(post.author, post.id, { text }))
    if (decided) this.model.edited(post, text)
  }

  async #show(post: Known): Promise<void> {
    const visibility = this.#dice.pick(['PUBLIC', 'FOLLOWERS', 'PRIVATE'] as const)
    const decided = await this.#decides(post, (posts) =>
      posts.changeVisibility(post.author, post.id, visibility),
    )
    if (decided) this.model.shown(post, visibility)
  }

  async #delete(post: Known): Promise<void> {
    const decided = await this.#decides(post, (posts) => posts.delete(post.author, post.id))
    if (decided) this.model.deleted(post)
  }

  async #turnReshare(original: Known, on: boolean): Promise<void> {
    const actor = this.#dice.pick(this.#people)
    if (!on) {
      const reshare = this.model.reshareOf(actor, original.id)
      const unreshare = (posts: PostService) => posts.unreshare(actor, original.id)
      if (!reshare) return void (await this.#survive(unreshare))
      if (await this.#decides(reshare, unreshare)) this.model.deleted(reshare)
      return
    }
    await this.#survive((posts) => posts.reshare(actor, original.id))
    // A process that died has not said by which post: it is the same when asked again.
    this.model.made(await this.#world.services.posts.reshare(actor, original.id))
  }

  /** What it answers, or nothing when the process dies. */
  async #survive<Result>(
    act: (posts: PostService) => Promise<Result>,
  ): Promise<Result | undefined> {
    try {
      return await act(this.#dice.pick(this.#processes))
    } catch (error) {
      if (!(error instanceof CrashError)) throw error
      return undefined
    }
  }

  /**
   * Whether it was decided: a process may also die before, when it finishes what another left. Either
   * the row that decides has another version now, or it says so already.
   */
  async #decides(post: Known, act: (posts: PostService) => Promise<unknown>): Promise<boolean> {
    const before = await this.#decidedVersion(post)
    await this.#survive(act)
    return (await this.#decidedVersion(post)) !== before
  }

  async #decidedVersion({ id, author, isReshare, original }: Known): Promise<bigint | undefined> {
    const { tables } = this.#world.platform
    const row =
      isReshare && original
        ? await tables.get(reshares, { actorId: author, originalId: original }, { serial: true })
        : await tables.get(postChanges, { postId: id }, { serial: true })
    return row?.version ?? undefined
  }

  async #repair(): Promise<void> {
    await this.#world.pass(2 * 60_000)
    await this.#world.services.pending.sweep()
  }

  async finish(): Promise<void> {
    await this.#repair()
    await this.#world.settle()
  }
}

const newestFirst = (a: Known, b: Known): number =>
  b.orderedAt - a.orderedAt || (b.id > a.id ? 1 : -1)

const agrees = async (world: World, model: PostsModel, people: readonly AccountId[]) => {
  const { posts } = world.services
  for (const known of model.posts.values()) {
    const [seen] = await posts.byIds(known.author, [known.id])
    const original = known.isReshare && known.original && model.posts.get(known.original)
    const hidden = original && original.author !== known.author && original.visibility !== 'PUBLIC'
    const isSeen = !known.isDeleted && !(original && (original.isDeleted || hidden))
    expect(seen !== undefined).toBe(isSeen)
    expect(heard.get(known.id)?.size, `events of ${known.id}`).toBe(known.changes)
    if (!seen) continue
    expect([seen.content.text, seen.visibility]).toEqual([known.text, known.visibility])
    const history = await posts.history(known.author, known.id)
    expect(history.map(({ text }) => text)).toEqual(known.history)
    const [replies] = await posts.countsOf([known.id], 'replies')
    const [reshares] = await posts.countsOf([known.id], 'reshares')
    expect([replies, reshares]).toEqual([
      model.count(({ replyTo }) => replyTo === known.id),
      model.count((post) => post.original === known.id),
    ])
    const listed = await posts.repliesOf(known.author, known.id, { first: 100 })
    const answers = model.standing
      .filter(({ replyTo, author, visibility }) => {
        return replyTo === known.id && (author === known.author || visibility === 'PUBLIC')
      })
      .sort((a, b) => newestFirst(b, a))
    expect(listed.items.map(({ id }) => id)).toEqual(answers.map(({ id }) => id))
  }
  for (const author of people) {
    const own = model.standing.filter((post) => post.author === author)
    const { items } = await posts.ofAuthor(author, author, { first: 100 })
    const reshared = ({ isReshare, original }: Known): boolean => {
      const source = original && model.posts.get(original)
      if (!isReshare || !source) return true
      return !source.isDeleted && (source.author === author || source.visibility === 'PUBLIC')
    }
    const expected = own.filter(reshared).sort(newestFirst)
    expect(items.map(({ id }) => id)).toEqual(expected.map(({ id }) => id).slice(0, 100))
    expect(await posts.postCounts([author])).toEqual([own.length])
  }
}

for (const engine of engines) {
  describe(`posts on ${engine}`, () => {
    test.each(seeds(RUNS[engine]))(
      'are what was decided, with seed %i',
      { timeout: 180_000 },
      async (seed) => {
        heard.clear()
        await using world = await World.open({ engine, workers: [listener, ...counting] })
        const people: AccountId[] = []
        for (let index = 0; index < PEOPLE; index += 1) {
          people.push(accountIdOf(await Person.signUp(world, `person${index}`)))
        }
        const history = new History(world, new Dice(seed), people)
        for (let step = 0; step < STEPS[engine]; step += 1) await history.step()
        await history.finish()
        await agrees(world, history.model, people)
      },
    )
  })
}
