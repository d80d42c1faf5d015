/**
 * Decides where a secret value is masked: everywhere, as a whole word only, or nowhere.
 *
 * A common word, a path, a host and a flag (`--verbose`) are not masked, even when declared secret (decisions 12).
 */
import { isCommonWord } from './everyday-words.ts'

/** Where a value is masked. `everywhere` means: in all its forms (masking-forms), also inside of a word. */
export type Masking = 'everywhere' | 'whole words' | 'none'

export function maskingOf(value: string): Masking {
  if (whyNotMasked(value) !== undefined) return 'none'
  return maskedText(value).length < minSecretLength ? 'whole words' : 'everywhere'
}

/** Returns the reason why a value is not masked; undefined if it is masked. */
export function whyNotMasked(value: string): string | undefined {
  const text = maskedText(value)
  if (text.length < minWordLength) return `has fewer than ${minWordLength} characters`
  if (isOrdinary(text)) return 'is a common word, path, host or flag'
  return 'secret-hidden'.includes(text) || text.includes('<secret-hidden>') ? 'is part of the mark' : undefined
}

/** Returns the value without white space at its ends, which programs often remove. */
export function maskedText(value: string): string {
  return value.trim()
}

/** The fewest characters of a value that is masked everywhere. */
export const minSecretLength = 8

/** The fewest characters of a value that is masked as a whole word. */
export const minWordLength = 4

function isOrdinary(text: string): boolean {
  return text.length <= ordinaryLimit && (isCommonWord(text) || isPath(text) || isHost(text) || isFlag(text))
}

/** A longer value is not taken for a common word, path, host or flag. The limit also bounds the time of the checks. */
const ordinaryLimit = 256

/** Usual names in the root folder of Linux and macOS, and `workspace`. */
const knownFolders =
  'Users|Applications|Library|Volumes|bin|dev|etc|home|lib|mnt|opt|proc|root|run|srv|tmp|usr|var|workspace'
const pathBelowKnown = new RegExp(String.raw`^(?:~|\.{1,2}|\/(?:${knownFolders}))(?:\/[\w.@+-]{1,32})+\/?$`)

/** True for a path below `~`, `.`, `..` or a known folder, and for a lower-case path without a run of 20 `[a-z0-9]`. */
function isPath(text: string): boolean {
  return /^(?:~|\.{1,2})?(?:\/[a-z0-9._@+-]{1,32})+\/?$/.test(text) && !/[a-z0-9]{20}/.test(text) ||
    pathBelowKnown.test(text)
}

const knownEnds = '[a-z]{2}|com|org|net|edu|gov|mil|info|dev|app|cloud|local|localhost|internal|lan|home|arpa|test'
  + '|example|invalid'
const hostForm = new RegExp([
  String.raw`^(?:[a-z][a-z0-9+.-]*:\/\/)?(?:[a-z0-9._-]+@)?`,
  String.raw`(?:localhost|\d{1,3}(?:\.\d{1,3}){3}|(?:[a-z0-9-]{1,63}\.)+(?:${knownEnds}))`,
  String.raw`(?::\d{1,5})?(?:\/[a-z0-9._-]{1,32})*\/?$`,
].join(''))

/** True for a host, mail address or URL (`hostForm`) in which no 24 lower-case letters or digits follow one another. */
function isHost(text: string): boolean {
  return hostForm.test(text) && !/[a-z0-9]{24}/.test(text)
}

/** True for a flag such as `--verbose`, `-v`, `--log-level=debug`. */
function isFlag(text: string): boolean {
  return /^--?[a-z]+(?:-[a-z]+)*(?:=[a-z]{0,16})?$/.test(text)
}
