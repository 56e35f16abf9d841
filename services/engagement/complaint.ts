/** What a report says. */
import { BadInputError } from '../kernel/errors.ts'
import { countGraphemes } from '../kernel/graphemes.ts'

export const REASONS = [
  'SPAM',
  'HARASSMENT',
  'HATE',
  'VIOLENCE',
  'NUDITY',
  'FALSE_INFORMATION',
  'ILLEGAL',
  'OTHER',
] as const
export type Reason = (typeof REASONS)[number]

export interface Complaint {
  readonly reason: Reason
  /** Empty where there is none. */
  readonly note: string
}

export interface ComplaintInput {
  readonly reason: Reason
  readonly note?: string | null | undefined
}

/** A character people see may be many code units; this many on average are enough for any text. */
const UNITS_PER_CHARACTER = 16

export const checkComplaint = ({ reason, note }: ComplaintInput, noteMax: number): Complaint => {
  const text = (note ?? '').normalize('NFC').trim()
  if (text.length > noteMax * UNITS_PER_CHARACTER || countGraphemes(text, noteMax) > noteMax) {
    throw new BadInputError(`a note has at most ${noteMax} characters`, { field: 'note' })
  }
  return { reason, note: text }
}

export const isSameComplaint = (a: Complaint | undefined, b: Complaint | undefined): boolean =>
  a?.reason === b?.reason && a?.note === b?.note
