/**
 * What of a value is hidden in texts: all of it wherever it stands, all of it as a whole word, or nothing.
 *
 * Hiding an ordinary value does harm and protects nobody: every other text has it. So a common word, a path, a host and a
 * flag are not hidden, whoever declared them to be secret (decisions 12). Who stores one is told so. Pure.
 */
import { isCommonWord } from './everyday-words.ts'

/** `everywhere`: in all its forms, also inside of other text. */
export type Masking = 'everywhere' | 'whole words' | 'none'

/** How a value is hidden, and why it is not. */
export function maskingOf(value: string): Masking {
  return whyNotMasked(value) !== undefined ? 'none' : maskedText(value).length < minSecretLength ? 'whole words' : 'everywhere'
}

/** Why a value is not hidden; undefined for one that is. */
export function whyNotMasked(value: string): string | undefined {
  const text = maskedText(value)
  if (text.length < minWordLength) return `has fewer than ${minWordLength} characters`
  if (isOrdinary(text)) return 'is a common word, path, host or flag'
  return 'secret-hidden'.includes(text) || text.includes('<secret-hidden>') ? 'is part of the mark' : undefined
}

/** The part of a value to look for: without the blanks around it, which often get lost. */
export function maskedText(value: string): string {
  return value.trim()
}

/** From this length on a value is hidden wherever it stands. */
export const minSecretLength = 8

/** From this length on it is hidden as a whole word. */
export const minWordLength = 4

function isOrdinary(text: string): boolean {
  return text.length <= ordinaryLimit && (isCommonWord(text) || isPath(text) || isHost(text) || isFlag(text))
}

/** Longer ones are never ordinary, and nothing below takes long for shorter ones. */
const ordinaryLimit = 256

/** `/usr/local/bin`, `~/.config`, `./src/index.ts`: names in lower case, or below a folder that every machine has. */
function isPath(text: string): boolean {
  return /^(?:~|\.{1,2})?(?:\/[a-z0-9._@+-]{1,32})+\/?$/.test(text) && !/[a-z0-9]{20}/.test(text) ||
    /^(?:~|\.{1,2}|\/(?:Users|Applications|Library|Volumes|bin|dev|etc|home|lib|mnt|opt|proc|root|run|srv|tmp|usr|var|workspace))(?:\/[\w.@+-]{1,32})+\/?$/.test(text)
}

/** A name with a known end, an IPv4 address, or an address without user, query and fragment; a user in front as in mail. */
function isHost(text: string): boolean {
  return /^(?:[a-z][a-z0-9+.-]*:\/\/)?(?:[a-z0-9._-]+@)?(?:localhost|\d{1,3}(?:\.\d{1,3}){3}|(?:[a-z0-9-]{1,63}\.)+(?:[a-z]{2}|com|org|net|edu|gov|mil|info|dev|app|cloud|local|localhost|internal|lan|home|arpa|test|example|invalid))(?::\d{1,5})?(?:\/[a-z0-9._-]{1,32})*\/?$/.test(text) && !/[a-z0-9]{24}/.test(text)
}

/** `--verbose`, `-v`, `--log-level=debug` */
function isFlag(text: string): boolean {
  return /^--?[a-z]+(?:-[a-z]+)*(?:=[a-z]{0,16})?$/.test(text)
}
