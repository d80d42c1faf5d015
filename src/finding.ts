/** One line of `agent-server doctor`: the state of one thing, and advice. */
export interface Finding {
  readonly subject: string
  /** `problem`: it does not work. `note`: it works less well, or needs a step of the operator. */
  readonly state: 'ok' | 'note' | 'problem'
  readonly text: string
  /** The advice; empty when there is nothing to do. */
  readonly advice: string
}
