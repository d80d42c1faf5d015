/** One line in the output of `agent-server doctor`: the state of one thing, and advice. */
export interface Finding {
  readonly subject: string
  /** `problem`: the thing does not work. `note`: the thing works less well, or the operator has to act. */
  readonly state: 'ok' | 'note' | 'problem'
  readonly text: string
  /** The advice; empty when there is nothing to do. */
  readonly advice: string
}
