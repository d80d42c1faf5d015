/** One line of `agent-server doctor`: the state of one thing, and what to do about it. */
export interface Finding {
  readonly subject: string
  /** `problem`: it does not work. `note`: it works less well, or only after something is done. */
  readonly state: 'ok' | 'note' | 'problem'
  readonly text: string
  /** What to do about it; empty where nothing is to be done. */
  readonly advice: string
}
