/** What can be watched of posts: how many are made, and what becomes of changes. */
import type { Telemetry } from '../platform/telemetry.ts'
import type { Post } from './post.ts'

/**
 * `made`: decided here. `same`: as it was already. `overtaken`: another was first, and it is decided
 * again. `finished`: what a process that died, or one that is still at it, had decided.
 */
export type ChangeOutcome = 'made' | 'same' | 'overtaken' | 'finished'

export class PostMetrics {
  readonly #posts
  readonly #changes

  constructor(telemetry: Telemetry) {
    this.#posts = telemetry.counter(
      'tributary_posts_made_total',
      'Posts made or asked for again, by what they are.',
      ['form'],
    )
    this.#changes = telemetry.counter(
      'tributary_posts_changes_total',
      'Changes of posts and reshares: made, found as they were, overtaken, finished for another.',
      ['change', 'outcome'],
    )
  }

  made(post: Post): void {
    this.#posts.inc({ form: formOf(post) })
  }

  changed(change: string, outcome: ChangeOutcome): void {
    this.#changes.inc({ change, outcome })
  }
}

const formOf = ({ isReshare, original, replyTo }: Post): string => {
  if (isReshare) return 'reshare'
  if (replyTo) return 'reply'
  return original ? 'quote' : 'post'
}
