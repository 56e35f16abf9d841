/** The text of a post in the one form in which it is kept, and what is found in it. */
import { BadInputError } from '../kernel/errors.ts'
import { countGraphemes } from '../kernel/graphemes.ts'

/** A character people see may be many code units; this many on average are enough for any text. */
const UNITS_PER_CHARACTER = 16
/** Controls but breaks and tabs, and halves of a pair. */
const UNSEEN = /[^\P{Cc}\n\t]|\p{Cs}/u
/** What turns the direction of the text around it: it comes in by pasting and is taken out. */
const TURNS = /[\u202a-\u202e\u2066-\u2069\ufeff]/g
const SEEN = /[\p{L}\p{N}\p{P}\p{S}]/u

/** One form of what was typed; empty when there is nothing to be seen in it. */
export const checkText = (typed: string, max: number): string => {
  const field = 'text'
  if (typed.length > max * UNITS_PER_CHARACTER) throw tooLong(max)
  const text = typed.normalize('NFC').replace(/\r\n?/g, '\n').replace(TURNS, '').trim()
  if (UNSEEN.test(text)) {
    throw new BadInputError('a text has only characters that can be seen', { field })
  }
  if (countGraphemes(text, max) > max) throw tooLong(max)
  return SEEN.test(text) ? text : ''
}

const tooLong = (max: number): BadInputError =>
  new BadInputError(`a text has at most ${max} characters`, { field: 'text' })

/** Equal for texts that read the same: what copies of one text are told by. */
export const foldText = (text: string): string =>
  text.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim()

/** What points elsewhere in a text, as it was typed. */
export interface Pointers {
  /** Without the sign, each once, in order. */
  readonly handles: readonly string[]
  /** Without the sign, in one spelling, each once, in order. */
  readonly hashtags: readonly string[]
}

const ADDRESS = /https?:\/\/\S+/giu
/** Not in the middle of a word or an address (`me@here.org`, `and/or#1`), nor of `@name@elsewhere`. */
const MENTION =
  /(?<![\p{L}\p{N}\p{M}_.@＠/])[@＠]([\p{L}\p{N}_](?:[\p{L}\p{N}_.]{0,58}[\p{L}\p{N}_])?)(?![\p{L}\p{N}\p{M}_@＠])/gu
/** The letters of names in any script (UAX 31), with the joiners that some scripts need. */
const HASHTAG =
  /(?<![\p{XID_Continue}&/#＃])[#＃]([\u200d\p{XID_Continue}\u200c]{1,100})(?![\p{XID_Continue}#＃])/gu

export const findPointers = (text: string): Pointers => {
  const plain = text.replace(ADDRESS, ' ')
  return {
    handles: distinct(captures(plain, MENTION).map(spellHandle)),
    hashtags: distinct(captures(plain, HASHTAG).filter(isWord).map(foldText)),
  }
}

const captures = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, word = '']) => word)

/** A number is a number (`#1`), whatever its digits. */
const isWord = (tag: string): boolean => /\p{L}/u.test(tag)

const spellHandle = (typed: string): string => typed.normalize('NFKC').toLowerCase()

const distinct = (words: readonly string[]): readonly string[] => [...new Set(words)]
