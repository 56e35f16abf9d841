/** The settings of posts. */
import { declare, int } from '../kernel/settings.ts'

const HOUR_MS = 3_600_000

export const postSettings = declare('posts', {
  textMax: int({
    default: 500,
    min: 1,
    max: 5_000,
    live: true,
    about: 'characters of a post, as people count them',
  }),
  linkMax: int({
    default: 2_048,
    min: 100,
    max: 4_096,
    live: true,
    about: 'characters of a link',
  }),
  mentionsMax: int({
    default: 20,
    min: 0,
    max: 100,
    live: true,
    about: 'accounts one post may mention',
  }),
  hashtagsMax: int({
    default: 30,
    min: 0,
    max: 100,
    live: true,
    about: 'different hashtags of one post',
  }),
  clientLagMs: int({
    default: 24 * HOUR_MS,
    min: 0,
    max: 7 * 24 * HOUR_MS,
    unit: 'ms',
    live: true,
    about: 'how long ago a client may say a post was written',
  }),
  editsMax: int({
    default: 50,
    min: 1,
    max: 90,
    about: 'how often one post can be edited; all its earlier texts are kept',
  }),
  slicesMax: int({
    default: 8,
    min: 1,
    max: 100,
    about: 'slices read to fill one page of a list in which a viewer may see little',
  }),
})
