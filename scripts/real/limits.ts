/**
 * What is known of the agents themselves, each with the scenario in which it shows and the evidence for it: data.
 *
 * A check that fails as a limit says is no failure of the server. `checks` are beginnings of the checks' names; a limit of
 * an agent without one explains nothing.
 */

export interface Limit {
  readonly agent: string
  /** The scenario's name. */
  readonly scenario: string
  readonly checks: readonly string[]
  readonly limit: string
  readonly evidence: string
}

export const limits: readonly Limit[] = []

export function limitsOf(agent: string, scenario: string): readonly Limit[] {
  return limits.filter((one) => one.agent === agent && one.scenario === scenario)
}

export function isKnown(check: string, among: readonly Limit[]): boolean {
  return among.some(({ checks }) => checks.some((beginning) => check.startsWith(beginning)))
}
