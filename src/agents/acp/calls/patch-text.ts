/**
 * Reads the two text forms in which agents report changes of files: unified diffs (POSIX diff -u, with Git's headers)
 * and the patches of OpenAI's `apply_patch` tool. Pure.
 *
 * A hunk that updates a file becomes one change, whose old and new text include the context lines.
 */

/** The change of a file, or of a part of the file. */
export type PatchChange =
  | { readonly do: 'create'; readonly path: string; readonly newText: string }
  | { readonly do: 'replace'; readonly path: string; readonly oldText: string; readonly newText: string }
  | { readonly do: 'delete'; readonly path: string }
  | { readonly do: 'move'; readonly path: string; readonly to: string }

/** The most characters of a text that is parsed. A longer text counts as a text without changes. */
const limitChars = 1_000_000

/** Returns the changes of an `apply_patch` text; empty if the text is too long, incomplete or of another form. */
export function readApplyPatch(text: string): readonly PatchChange[] {
  if (text.length > limitChars) return []
  if (!/^\s*\*\*\* Begin Patch\n/.test(text) || !/\n\*\*\* End Patch\s*$/.test(text)) return []
  const changes: PatchChange[] = []
  let file: { readonly verb: string; readonly path: string; to?: string } | undefined
  let hunk = emptyHunk()
  const endHunk = (): void => {
    if (file?.verb === 'Add') changes.push({ do: 'create', path: file.path, newText: joined(hunk.after) })
    if (file?.verb === 'Update' && hunk.hasChange) changes.push(replacement(file.to ?? file.path, hunk))
    hunk = emptyHunk()
  }
  for (const line of text.trimEnd().split('\n')) {
    const head = /^\*\*\* (Add|Update|Delete) File: (.+)$/.exec(line)
    const [, verb = '', path = ''] = head ?? []
    const to = /^\*\*\* Move to: (.+)$/.exec(line)?.[1]
    if (head !== null) {
      endHunk()
      file = { verb, path: path.trim() }
      if (verb === 'Delete') changes.push({ do: 'delete', path: file.path })
    } else if (to !== undefined && file !== undefined) {
      file.to = to.trim()
      changes.push({ do: 'move', path: file.path, to: file.to })
    } else if (line.startsWith('@@') || line === '*** End Patch') {
      if (line !== '*** End Patch' && file?.verb === 'Add') continue
      endHunk()
      if (line === '*** End Patch') file = undefined
    } else if (line !== '*** End of File') {
      addLine(hunk, line)
    }
  }
  return changes
}

/** Returns the changes of a unified diff; empty for a text that is too long or no diff. */
export function readUnifiedDiff(text: string): readonly PatchChange[] {
  if (text.length > limitChars || !/^--- /m.test(text)) return []
  const changes: PatchChange[] = []
  const isGit = /^diff --git /m.test(text)
  let names = { before: '', after: '' }
  let hunk = emptyHunk()
  let left = { before: 0, after: 0 }
  const endHunk = (): void => {
    if (hunk.hasChange) changes.push(changeOf(names, hunk))
    hunk = emptyHunk()
  }
  for (const line of text.split('\n')) {
    const counts = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line)
    if (line.startsWith('\\')) {
      withoutLastLineEnd(hunk)
    } else if (left.before > 0 || left.after > 0) {
      const sign = addLine(hunk, line)
      left = { before: left.before - (sign === '+' ? 0 : 1), after: left.after - (sign === '-' ? 0 : 1) }
    } else if (counts !== null) {
      endHunk()
      left = { before: Number(counts[1] ?? 1), after: Number(counts[2] ?? 1) }
    } else if (line.startsWith('--- ')) {
      endHunk()
      names = { before: fileName(line, isGit), after: '' }
    } else if (line.startsWith('+++ ')) {
      names = { ...names, after: fileName(line, isGit) }
    }
  }
  endHunk()
  return changes
}

interface Hunk {
  readonly before: string[]
  readonly after: string[]
  hasChange: boolean
  /** The sign of the newest line: `-` in the old text only, `+` in the new text only, ` ` in both texts. */
  last: string
  /** The signs of the lines without a line end, as one text: `\ No newline at end of file` follows such a line. */
  cut: string
}

function emptyHunk(): Hunk {
  return { before: [], after: [], hasChange: false, last: '', cut: '' }
}

function addLine(hunk: Hunk, line: string): string {
  const sign = line[0] === '+' || line[0] === '-' ? line[0] : ' '
  const rest = line.slice(1)
  if (sign !== '+') hunk.before.push(rest)
  if (sign !== '-') hunk.after.push(rest)
  hunk.hasChange ||= sign !== ' '
  hunk.last = sign
  return sign
}

/** Adds the sign of the hunk's newest line to `cut`: the line has no line end. */
function withoutLastLineEnd(hunk: Hunk): void {
  hunk.cut += hunk.last
}

function replacement(path: string, { before, after, cut }: Hunk): PatchChange {
  const oldText = joined(before, /[- ]/.test(cut))
  const newText = joined(after, /[+ ]/.test(cut))
  return { do: 'replace', path, oldText, newText }
}

function changeOf({ before, after }: { readonly before: string; readonly after: string }, hunk: Hunk): PatchChange {
  if (before === '/dev/null') return { do: 'create', path: after, newText: joined(hunk.after, hunk.cut.includes('+')) }
  if (after === '/dev/null') return { do: 'delete', path: before }
  return replacement(after, hunk)
}

function joined(lines: readonly string[], isCut = false): string {
  const text = lines.join('\n')
  return isCut || lines.length === 0 ? text : `${text}\n`
}

/** Returns the file name in a `---` or `+++` line. Leaves out a time and, in a diff of Git, the first `a/` or `b/`. */
function fileName(line: string, isGit: boolean): string {
  const name = line.slice(4).split('\t')[0] ?? ''
  return isGit ? name.replace(/^[ab]\//, '') : name.trim()
}
