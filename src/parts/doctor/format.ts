/** Formats a finding as a line of `agent-server doctor`. */
import type { Finding } from '../../finding.ts'

export function formatFinding({ subject, state, text, advice }: Finding): string {
  return `${state.padEnd(7)}  ${subject.padEnd(15)}  ${text}${advice === '' ? '' : `. To do: ${advice}`}`
}
