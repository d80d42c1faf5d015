/**
 * A mutation: one edit of the source that breaks one promise, and the tests that have to notice.
 *
 * Pure. The edit is exact text for exact text, and its old text stands once in its file, so that the author of a change
 * to the line learns that a promise depends on it.
 */

export interface Mutation {
  /** Path from the root of the file that is changed. */
  readonly file: string
  /** The text that goes. It stands once in the file. */
  readonly old: string
  /** The text that takes its place. */
  readonly new: string
  /** The promise that the edit breaks, as a sentence that is true of the source as it is. */
  readonly promise: string
  /** Paths from the root of test files. At least one of them has to fail. */
  readonly tests: readonly string[]
}

/** The mutations of one folder of the source. */
export interface MutationSet {
  readonly folder: string
  readonly mutations: readonly Mutation[]
}

export type Edit =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly reason: string }

/** The text of a file after the edit, or why the edit does not apply. */
export function applyEdit(text: string, { old, new: replacement }: Pick<Mutation, 'old' | 'new'>): Edit {
  const place = text.indexOf(old)
  if (place < 0) return { ok: false, reason: 'its old text is not in the file' }
  if (text.includes(old, place + 1)) return { ok: false, reason: 'its old text stands more than once in the file' }
  return { ok: true, text: text.slice(0, place) + replacement + text.slice(place + old.length) }
}

/** The sets with the mutations that mention the word in their file, their promise or their tests. */
export function selectMutations(sets: readonly MutationSet[], word: string): MutationSet[] {
  return keepMutations(sets, ({ file, promise, tests }) => {
    return [file, promise, ...tests].some((text) => text.includes(word))
  })
}

/** The sets with the mutations that are wanted; a set without any is left out. */
export function keepMutations(sets: readonly MutationSet[], isWanted: (mutation: Mutation) => boolean): MutationSet[] {
  return sets
    .map(({ folder, mutations }) => ({ folder, mutations: mutations.filter(isWanted) }))
    .filter(({ mutations }) => mutations.length > 0)
}
