/**
 * A finding of a rule, and its printed form.
 *
 * A finding names the place, the rule and the remedy, so that nobody has to open the checker to obey it. Warnings are
 * printed and do not fail the check.
 */

export interface Finding {
  /** Path from the repository's root, with slashes. */
  readonly file: string
  readonly line: number
  readonly rule: string
  /** The mistake and its remedy. */
  readonly message: string
  readonly warning?: true
}

/** `src/api/meta.ts:12: imports: ...`, which editors and terminals make clickable. */
export function formatFinding(finding: Finding): string {
  const level = finding.warning ? 'warning: ' : ''
  return `${finding.file}:${finding.line}: ${level}${finding.rule}: ${finding.message}`
}
