/** What people say of themselves, checked and put into one form before it is kept. */
import { BadInputError } from '../kernel/errors.ts'
import { countGraphemes } from '../kernel/graphemes.ts'
import type { Values } from '../kernel/settings.ts'
import type { accountSettings } from './settings.ts'

/** What is not named, or null, stays as it is. */
export interface ProfileChanges {
  readonly displayName?: string | null | undefined
  readonly bio?: string | null | undefined
  readonly isPrivate?: boolean | null | undefined
}

/** The same, without what is not there. */
export interface Profile {
  readonly displayName?: string
  readonly bio?: string
  readonly isPrivate?: boolean
}

type ProfileLimits = Pick<Values<typeof accountSettings>, 'displayNameMax' | 'bioMax'>

/** A character people see may be many code units; this many on average are enough for any text. */
const UNITS_PER_CHARACTER = 16
/** Unseen characters: controls, half pairs, and what turns the direction of the text around it. */
const UNSEEN = /[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u
const UNSEEN_BUT_BREAKS = /[^\P{Cc}\n]|[\p{Cs}\u202a-\u202e\u2066-\u2069]/u

/** The changes in the form in which they are kept; what is not named stays unnamed. */
export const checkProfile = (changes: ProfileChanges, limits: ProfileLimits): Profile => {
  const { displayName, bio, isPrivate } = changes
  return {
    ...(displayName == null ? {} : { displayName: checkName(displayName, limits) }),
    ...(bio == null ? {} : { bio: checkBio(bio, limits) }),
    ...(isPrivate == null ? {} : { isPrivate }),
  }
}

const checkName = (typed: string, { displayNameMax }: ProfileLimits): string => {
  const field = 'displayName'
  checkLength(typed, { field, max: displayNameMax })
  const name = typed.normalize('NFC').trim()
  if (name === '') throw new BadInputError('a display name is not empty', { field })
  if (UNSEEN.test(name)) {
    throw new BadInputError('a display name is one line of characters that can be seen', { field })
  }
  return name
}

const checkBio = (typed: string, { bioMax }: ProfileLimits): string => {
  const field = 'bio'
  checkLength(typed, { field, max: bioMax })
  const bio = typed.normalize('NFC').replaceAll('\r\n', '\n').trim()
  if (UNSEEN_BUT_BREAKS.test(bio)) {
    throw new BadInputError('a bio has only characters that can be seen', { field })
  }
  return bio
}

const checkLength = (
  text: string,
  { field, max }: { readonly field: string; readonly max: number },
): void => {
  if (text.length <= max) return
  if (text.length <= max * UNITS_PER_CHARACTER && countGraphemes(text.trim(), max) <= max) return
  throw new BadInputError(`${field} has at most ${max} characters`, { field })
}

/** What of it an account does not say already. */
export const differing = (current: Required<Profile>, wanted: Profile): Profile => {
  const { displayName, bio, isPrivate } = wanted
  return {
    ...(displayName === undefined || displayName === current.displayName ? {} : { displayName }),
    ...(bio === undefined || bio === current.bio ? {} : { bio }),
    ...(isPrivate === undefined || isPrivate === current.isPrivate ? {} : { isPrivate }),
  }
}
