/** Characters as people count them: a flag, a family or an accented letter is one. */
const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** Plain text needs no segmenter; a line break of two code units is the one exception. */
const PLAIN = /^[\x20-\x7e\n]*$/

/** How many characters `text` has; counting stops just past `atMost`. */
export const countGraphemes = (text: string, atMost = Number.POSITIVE_INFINITY): number => {
  if (PLAIN.test(text)) return text.length
  let count = 0
  for (const _grapheme of segmenter.segment(text)) {
    count += 1
    if (count > atMost) break
  }
  return count
}
