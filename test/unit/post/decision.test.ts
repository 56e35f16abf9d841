import { describe, expect, test } from 'vitest'
import { BadInputError, ForbiddenError } from '../../../services/kernel/errors.ts'
import type { EventId } from '../../../services/kernel/ids.ts'
import type { Content } from '../../../services/post/content.ts'
import { type Change, decide, type PostState } from '../../../services/post/decision.ts'

const content: Content = { text: 'one', link: 'https://a/', mentions: [], hashtags: ['x'] }
const state: PostState = { version: 5n, visibility: 'PUBLIC', content, edits: 0 }
const circumstances = { version: 9n, at: 90, eventId: 8n as EventId, createdAt: 50, editsMax: 2 }

const editTo = (text: string): Change => ({
  name: 'edit',
  writing: { text, mentions: [], hashtags: [] },
})
const linkTo = (to: string | undefined): Change => ({ name: 'edit', link: { to } })

describe('what becomes of a post', () => {
  test('an edit changes what it names and keeps what was', () => {
    expect(decide(state, editTo('two'), circumstances)).toEqual({
      state: {
        ...{ version: 9n, visibility: 'PUBLIC', edits: 1, editedAt: 90 },
        content: { text: 'two', link: 'https://a/', mentions: [], hashtags: [] },
      },
      ...{ change: 'edit', eventId: 8n },
      previous: { version: 5n, visibility: 'PUBLIC', content, writtenAt: 50 },
    })
    const unlinked = decide(state, linkTo(undefined), circumstances)
    expect(unlinked?.state.content).toEqual({ text: 'one', mentions: [], hashtags: ['x'] })
    const edited = { ...state, edits: 1, editedAt: 70 }
    expect(decide(edited, editTo('two'), circumstances)?.previous.writtenAt).toBe(70)
  })

  test('a change of visibility touches nothing else', () => {
    const change = { name: 'visibility', visibility: 'PRIVATE' } as const
    expect(decide(state, change, circumstances)?.state).toEqual({
      ...state,
      ...{ version: 9n, visibility: 'PRIVATE' },
    })
  })

  test.each<[string, Change]>([
    ['the same text', editTo('one')],
    ['the same link', linkTo('https://a/')],
    ['nothing', { name: 'edit' }],
    ['the same visibility', { name: 'visibility', visibility: 'PUBLIC' }],
  ])('%s is no change', (_what, change) => {
    expect(decide(state, change, circumstances)).toBeUndefined()
  })

  test('a deletion leaves no text, and nothing comes after it', () => {
    const gone = decide({ ...state, edits: 2, editedAt: 70 }, { name: 'delete' }, circumstances)
    expect(gone?.state).toEqual({
      ...{ version: 9n, visibility: 'PUBLIC', edits: 2, editedAt: 70, deletedAt: 90 },
      content: { text: '', mentions: [], hashtags: [] },
    })
    const deleted = { ...state, deletedAt: 80 }
    const later: Change[] = [
      editTo('two'),
      { name: 'delete' },
      { name: 'visibility', visibility: 'PRIVATE' },
    ]
    for (const change of later) expect(decide(deleted, change, circumstances)).toBeUndefined()
  })

  test('an edit leaves something to say, and there are only so many', () => {
    const bare = { ...state, content: { text: 'one', mentions: [], hashtags: [] } }
    expect(() => decide(bare, editTo(''), circumstances)).toThrow(BadInputError)
    const often = { ...state, edits: 2 }
    expect(() => decide(often, editTo('two'), circumstances)).toThrow(ForbiddenError)
  })
})
