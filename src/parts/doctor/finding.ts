/**
 * What `agent-server doctor` says about one thing, and how a line of it looks: the state first, so that problems stand
 * out, and last what to do.
 */

export interface Finding {
  readonly subject: string
  /** `problem`: it does not work. `note`: it works less well, or only after something is done. */
  readonly state: 'ok' | 'note' | 'problem'
  readonly text: string
  /** What to do about it; empty where nothing is to be done. */
  readonly advice: string
}

export function formatFinding({ subject, state, text, advice }: Finding): string {
  return `${state.padEnd(7)}  ${subject.padEnd(15)}  ${text}${advice === '' ? '' : `. To do: ${advice}`}`
}
