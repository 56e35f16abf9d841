/**
 * A page of posts with what the operation asks of each: read for the whole page at once, before the
 * fields are resolved one by one.
 */
import { actedOn } from '../../services/engagement/engagement.ts'
import type { Page } from '../../services/kernel/page.ts'
import type { Post } from '../../services/post/post.ts'
import type { RequestContext } from '../graphql/context.ts'
import type { Loaders } from '../loaders.ts'

interface Wanted {
  readonly field: string
  readonly loader: Exclude<keyof Loaders, 'forget'>
  readonly idOf: (post: Post) => bigint
}

/** The post that stands for this one when somebody reshares it. */
export const standsFor = ({ id, isReshare, original }: Post): Post['id'] =>
  isReshare && original ? original.id : id

const fields: readonly Wanted[] = [
  { field: 'Post.likeCount', loader: 'likeCount', idOf: (post) => actedOn('like', post).id },
  { field: 'Post.replyCount', loader: 'replyCount', idOf: ({ id }) => id },
  { field: 'Post.reshareCount', loader: 'reshareCount', idOf: ({ id }) => id },
  { field: 'Post.viewerHasReshared', loader: 'viewerReshare', idOf: standsFor },
  { field: 'Post.viewerHasLiked', loader: 'postMarks', idOf: (post) => actedOn('like', post).id },
  { field: 'Post.viewerHasSaved', loader: 'postMarks', idOf: (post) => actedOn('save', post).id },
  { field: 'Post.viewerHasHidden', loader: 'postMarks', idOf: (post) => actedOn('hide', post).id },
]

export const fetched = async (
  page: Page<Post>,
  { asked, loaders }: RequestContext,
): Promise<Page<Post>> => {
  const ids = new Map<Wanted['loader'], bigint[]>()
  for (const { field, loader, idOf } of fields) {
    if (asked.has(field)) ids.set(loader, [...(ids.get(loader) ?? []), ...page.items.map(idOf)])
  }
  await Promise.all([...ids].map(([name, wanted]) => loaders[name].fetch(wanted)))
  return page
}
