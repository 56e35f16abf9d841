import { expect, test } from 'vitest'
import { checkComplaint, isSameComplaint } from '../../../services/engagement/complaint.ts'
import { BadInputError } from '../../../services/kernel/errors.ts'

test('ENG-1: the note of a report is trimmed, and counted as people count', () => {
  expect(checkComplaint({ reason: 'SPAM', note: '  again \n' }, 5)).toEqual({
    reason: 'SPAM',
    note: 'again',
  })
  expect(checkComplaint({ reason: 'OTHER', note: null }, 5).note).toBe('')
  expect(checkComplaint({ reason: 'OTHER', note: '👩‍👩‍👧'.repeat(5) }, 5).note).toHaveLength(40)
})

test.each([
  ['one character too many', 'sixsix'],
  ['characters without end', `a${'\u0301'.repeat(1000)}`],
])('ENG-1: a note with %s is refused', (_case, note) => {
  expect(() => checkComplaint({ reason: 'SPAM', note }, 5)).toThrow(BadInputError)
})

test('reports are the same by reason and note', () => {
  const spam = { reason: 'SPAM', note: 'a' } as const
  expect(isSameComplaint(spam, { ...spam })).toBe(true)
  expect(isSameComplaint(spam, { ...spam, note: 'b' })).toBe(false)
  expect(isSameComplaint(spam, { ...spam, reason: 'HATE' })).toBe(false)
  expect(isSameComplaint(undefined, spam)).toBe(false)
})
