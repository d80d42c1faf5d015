/**
 * What a rule has found, and how it is printed.
 *
 * A finding names the place, the rule and what to do about it, so that nobody has to open the checker to obey it.
 * Warnings are printed and do not fail the check.
 */

export interface Finding {
  /** Path from the repository's root, with slashes. */
  readonly file: string
  readonly line: number
  readonly rule: string
  /** What is wrong and what to do instead. */
  readonly message: string
  readonly warning?: true
}

/** `src/api/meta.ts:12: imports: ...`, which editors and terminals make clickable. */
export function formatFinding(finding: Finding): string {
  const level = finding.warning ? 'warning: ' : ''
  return `${finding.file}:${finding.line}: ${level}${finding.rule}: ${finding.message}`
}
