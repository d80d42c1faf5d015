/**
 * Patterns that leave paths out of an archive or a patch. Pure functions.
 *
 * `name`, `*.ext` and `name/` match at any depth; `a/b` matches from the top. With `/` at the end, a pattern matches
 * only folders. `*` and `?` stay within one part of a path. Matching takes quadratic time at most.
 */

export const usualExcludes: readonly string[] = [
  '.git/', 'node_modules/', '.venv/', 'venv/', '__pycache__/', '.mypy_cache/', '.pytest_cache/', '.ruff_cache/',
  'dist/', 'build/', '.next/', 'target/', '*.pyc',
]

/** Tells whether a pattern excludes the path. Folders above the path are not checked: callers skip excluded folders. */
export function isExcluded(path: string, isFolder: boolean, patterns: readonly string[]): boolean {
  const parts = path.split('/')
  return patterns.some((pattern) => {
    const wanted = pattern.replace(/(?<!\/)\/+$/, '').split('/').filter((part) => part !== '')
    if (wanted.length === 0 || (pattern.endsWith('/') && !isFolder)) return false
    const compared = wanted.length === 1 ? parts.slice(-1) : parts
    return compared.length === wanted.length && wanted.every((part, index) => matches(part, compared[index] ?? ''))
  })
}

/** Returns git pathspecs that exclude the paths of the patterns (gitglossary(7), "pathspec"). */
export function pathspecsOf(patterns: readonly string[]): readonly string[] {
  return patterns.flatMap((pattern) => {
    const wanted = pattern.split('/').filter((part) => part !== '').map((part) => part.replace(/[[\\]/g, '\\$&'))
    if (wanted.length === 0) return []
    const path = wanted.length === 1 ? `**/${wanted.join('')}` : wanted.join('/')
    return [...(pattern.endsWith('/') ? [] : [`:(glob,exclude)${path}`]), `:(glob,exclude)${path}/**`]
  })
}

/** Tells whether a text fits a pattern with `*` and `?`. After a mismatch, only the last `*` tries a longer match. */
function matches(pattern: string, text: string): boolean {
  let [at, to, star, resume] = [0, 0, -1, 0]
  while (to < text.length) {
    if (pattern[at] === '*') [star, resume, at] = [at, to, at + 1]
    else if (at < pattern.length && (pattern[at] === '?' || pattern[at] === text[to])) [at, to] = [at + 1, to + 1]
    else if (star >= 0) [resume, at, to] = [resume + 1, star + 1, resume + 1]
    else return false
  }
  return /^\**$/.test(pattern.slice(at))
}
