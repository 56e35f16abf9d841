/**
 * Accounts and posts as the schema names their fields.
 *
 * An executor reads a property for a tenth of what it pays for calling a resolver, and a page of
 * posts has hundreds of fields. So whatever is asked of posts is read before they are handed to it,
 * for a whole page at once (`postViews`), and is a property here; resolvers are for the rest.
 */
import type { Account } from '../services/accounts/accounts.ts'
import { actedOn, NO_MARKS } from '../services/engagement/engagement.ts'
import { assert, NotFoundError } from '../services/kernel/errors.ts'
import type { Post, PostId } from '../services/post/post.ts'
import type { RequestContext } from './graphql/context.ts'
import type { FoundNode } from './graphql/schema.ts'
import type { Loaders } from './loaders.ts'
import { toGlobalId } from './relay/global-id.ts'

export class AccountView implements FoundNode {
  readonly known: Account
  /** Made when first asked for: the author of a page is asked once for each post. */
  #id: string | undefined

  constructor(known: Account) {
    this.known = known
  }

  get __typename(): string {
    return 'Account'
  }
  get id(): string {
    this.#id ??= toGlobalId('Account', this.known.id)
    return this.#id
  }
  get handle(): string {
    return this.known.handle
  }
  get displayName(): string {
    return this.known.displayName
  }
  get bio(): string {
    return this.known.bio
  }
  get isPrivate(): boolean {
    return this.known.isPrivate
  }
  get createdAt(): number {
    return this.known.createdAt
  }
}

/** What is known of a post beside itself, of that which the operation asks for. */
interface PostFacts {
  likeCount?: number
  replyCount?: number
  reshareCount?: number
  viewerHasReshared?: boolean
  viewerHasLiked?: boolean
  viewerHasSaved?: boolean
  viewerHasHidden?: boolean
}

export class PostView implements FoundNode {
  readonly known: Post
  readonly author: AccountView
  readonly #facts: PostFacts

  constructor(known: Post, author: AccountView, facts: PostFacts) {
    this.known = known
    this.author = author
    this.#facts = facts
  }

  get __typename(): string {
    return 'Post'
  }
  get id(): string {
    return toGlobalId('Post', this.known.id)
  }
  get text(): string {
    return this.known.content.text
  }
  get createdAt(): number {
    return this.known.orderedAt
  }
  get editedAt(): number | null {
    return this.known.editedAt ?? null
  }
  get visibility(): Post['visibility'] {
    return this.known.visibility
  }
  get link(): { readonly url: string } | null {
    const { link } = this.known.content
    return link === undefined ? null : { url: link }
  }
  get mentions(): Post['content']['mentions'] {
    return this.known.content.mentions
  }
  get hashtags(): readonly string[] {
    return this.known.content.hashtags
  }
  get likeCount(): number {
    return asked(this.#facts.likeCount)
  }
  get replyCount(): number {
    return asked(this.#facts.replyCount)
  }
  get reshareCount(): number {
    return asked(this.#facts.reshareCount)
  }
  get viewerHasReshared(): boolean {
    return asked(this.#facts.viewerHasReshared)
  }
  get viewerHasLiked(): boolean {
    return asked(this.#facts.viewerHasLiked)
  }
  get viewerHasSaved(): boolean {
    return asked(this.#facts.viewerHasSaved)
  }
  get viewerHasHidden(): boolean {
    return asked(this.#facts.viewerHasHidden)
  }
}

const asked = <Value>(fact: Value | undefined): Value => {
  assert(fact !== undefined, 'what an operation asks of a post has been read for it')
  return fact
}

/** One fact: where it is read, of which post, and how it gets into the facts. */
interface Fact {
  readonly field: string
  readonly loader: Exclude<keyof Loaders, 'forget'>
  readonly of: (post: Post) => bigint
  readonly note: (facts: PostFacts, loaders: Loaders, id: bigint) => void
}

const FACTS: readonly Fact[] = [
  {
    ...{ field: 'Post.likeCount', loader: 'likeCount', of: (post) => actedOn('like', post).id },
    note: (facts, { likeCount }, id) => {
      facts.likeCount = likeCount.known(id) ?? 0
    },
  },
  {
    ...{ field: 'Post.replyCount', loader: 'replyCount', of: ({ id }) => id },
    note: (facts, { replyCount }, id) => {
      facts.replyCount = replyCount.known(id) ?? 0
    },
  },
  {
    ...{ field: 'Post.reshareCount', loader: 'reshareCount', of: ({ id }) => id },
    note: (facts, { reshareCount }, id) => {
      facts.reshareCount = reshareCount.known(id) ?? 0
    },
  },
  {
    ...{ field: 'Post.viewerHasReshared', loader: 'viewerReshare', of: (post) => standsFor(post) },
    note: (facts, { viewerReshare }, id) => {
      facts.viewerHasReshared = viewerReshare.known(id) ?? false
    },
  },
  {
    ...{
      field: 'Post.viewerHasLiked',
      loader: 'postMarks',
      of: (post) => actedOn('like', post).id,
    },
    note: (facts, { postMarks }, id) => {
      facts.viewerHasLiked = (postMarks.known(id) ?? NO_MARKS).hasLiked
    },
  },
  {
    ...{
      field: 'Post.viewerHasSaved',
      loader: 'postMarks',
      of: (post) => actedOn('save', post).id,
    },
    note: (facts, { postMarks }, id) => {
      facts.viewerHasSaved = (postMarks.known(id) ?? NO_MARKS).hasSaved
    },
  },
  {
    ...{
      field: 'Post.viewerHasHidden',
      loader: 'postMarks',
      of: (post) => actedOn('hide', post).id,
    },
    note: (facts, { postMarks }, id) => {
      facts.viewerHasHidden = (postMarks.known(id) ?? NO_MARKS).hasHidden
    },
  },
]

/** What a viewer reshares when they reshare this. */
const standsFor = ({ id, isReshare, original }: Post): PostId =>
  isReshare && original ? original.id : id

/** The posts with all that the operation asks of them: a fixed number of reads, however many. */
export const postViews = async (
  posts: readonly Post[],
  { asked: fields, loaders }: RequestContext,
): Promise<PostView[]> => {
  const wanted = FACTS.filter(({ field }) => fields.has(field))
  const authorless = posts.filter(({ author }) => !author)
  const ids = new Map<Fact['loader'], bigint[]>([
    ['account', authorless.map(({ authorId }) => authorId)],
  ])
  for (const { loader, of } of wanted) {
    ids.set(loader, [...(ids.get(loader) ?? []), ...posts.map(of)])
  }
  await Promise.all([...ids].map(([loader, needed]) => loaders[loader].fetch(needed)))
  const authors = new Map<bigint, AccountView>()
  return posts.map((post) => {
    const author = authors.get(post.authorId) ?? authorOf(post, loaders)
    authors.set(post.authorId, author)
    const facts: PostFacts = {}
    for (const { note, of } of wanted) note(facts, loaders, of(post))
    return new PostView(post, author, facts)
  })
}

/** Who may see a post may see its author, unless a block came between. */
const authorOf = ({ author, authorId }: Post, { account }: Loaders): AccountView => {
  const known = author ?? account.known(authorId)
  if (!known) throw new NotFoundError('this post has just gone')
  return new AccountView(known)
}

export const postView = async (post: Post, context: RequestContext): Promise<PostView> => {
  const [view] = await postViews([post], context)
  return asked(view)
}

export const accountView = (account: Account | undefined): AccountView | null =>
  account ? new AccountView(account) : null
