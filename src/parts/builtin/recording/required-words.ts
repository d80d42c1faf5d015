/**
 * Masks secrets in the words of a JSON value. A word is a text, or the name of a member, of letters and `_` only.
 *
 * A word that the schema requires, such as the name of a command, stays even if it is also a secret. To find these
 * words, dashes are put in place of a word: if the value then does not fit the schema, the schema requires the word.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isObject } from '../../../base/json.ts'

/** Returns whether a text is a word: 1 to 40 letters and `_`. */
export function isWord(text: string): boolean {
  return /^[a-z_]{1,40}$/i.test(text)
}

/** The most words with a secret that are checked against the schema. A word at two paths counts twice. */
const placeLimit = 1000
/** The longest path of a word that is checked, in characters, with the word at its end. */
const pathLimit = 200

/**
 * Returns a copy in which each word (`isWord`) with a secret is masked, unless the schema requires the word. Words
 * after the first `placeLimit`, or with a longer path than `pathLimit`, are masked also if the schema requires them.
 * @param fits tells whether a value fits its schema
 */
export async function maskFreeWords(
  value: unknown, mask: (text: string) => string, fits: (changed: unknown) => boolean,
): Promise<unknown> {
  const found = new Set<string>()
  changed(value, '', (text, key) => {
    if (key.length <= pathLimit && found.size < placeLimit && isWord(text) && mask(text) !== text) found.add(key)
    return text
  })
  const without = (keys: ReadonlySet<string>): unknown =>
    changed(value, '', (text, key) => (keys.has(key) ? '-'.repeat(text.length) : text))
  const required = fits(value) ? await requiredOf([...found], async (keys) => {
    await nextTurn()
    return fits(without(new Set(keys)))
  }) : []
  const kept = new Set(required)
  return changed(value, '', (text, key) => (isWord(text) && !kept.has(key) ? mask(text) : text))
}

/**
 * Returns the keys of the words that the schema requires. A key is the path of a word in the value, the word included.
 * @param fitsWithout tells whether the value fits the schema with dashes in place of the words that have these keys
 */
async function requiredOf(
  keys: readonly string[], fitsWithout: (keys: readonly string[]) => Promise<boolean>,
): Promise<readonly string[]> {
  if (keys.length === 0 || await fitsWithout(keys)) return []
  if (keys.length === 1) return keys
  const half = keys.length >> 1
  return [...await requiredOf(keys.slice(0, half), fitsWithout), ...await requiredOf(keys.slice(half), fitsWithout)]
}

/**
 * Returns a copy in which `change` has replaced each text and each member name. `change` gets the text and its key: the
 * path of the text in the value, ending with the text. If this path exceeds `pathLimit`, the key is `tooLong`.
 */
function changed(value: unknown, path: string, change: (text: string, key: string) => string): unknown {
  if (typeof value === 'string') return change(value, keyOf(path, value))
  if (Array.isArray(value)) return value.map((item: unknown) => changed(item, keyOf(path, '[]'), change))
  if (!isObject(value)) return value
  const members = Object.entries(value).map(([name, member]) => [
    change(name, keyOf(`${path}/{}`, name)), changed(member, keyOf(path, name), change),
  ])
  return Object.fromEntries(members)
}

/** Returns the path with a name added; `tooLong` when path and name together are longer than `pathLimit`. */
function keyOf(path: string, name: string): string {
  return path.length + name.length > pathLimit ? tooLong : `${path}/${name}`
}

const tooLong = '/'.repeat(pathLimit + 1)
