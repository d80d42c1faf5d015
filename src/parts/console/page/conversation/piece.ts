/** The view of a call (`CallView`): one line, and below it the pieces (`Piece`), such as an output. */
import type { Members } from '../values.ts'

export interface Task {
  readonly title: string
  readonly notes: string
  readonly status: string
}

export interface Entry {
  readonly name: string
  readonly isFolder: boolean
  readonly size: number
}

export type Piece =
  | { readonly type: 'command'; readonly text: string }
  | { readonly type: 'terminal'; readonly text: string }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'markdown'; readonly text: string }
  | { readonly type: 'problem'; readonly text: string }
  | { readonly type: 'diff'; readonly before: string; readonly after: string }
  | { readonly type: 'file'; readonly text: string; readonly firstLine: number }
  | { readonly type: 'paths'; readonly paths: readonly string[]; readonly isCut: boolean }
  | { readonly type: 'entries'; readonly entries: readonly Entry[]; readonly isCut: boolean }
  | { readonly type: 'tasks'; readonly tasks: readonly Task[] }
  | { readonly type: 'image'; readonly src: string; readonly alt: string }
  /** A link to another conversation. */
  | { readonly type: 'conversation'; readonly id: string }
  | { readonly type: 'json'; readonly label: string; readonly value: unknown; readonly isOpen?: boolean }

export interface CallView {
  /** The word for the action, such as "Run". */
  readonly verb: string
  /** The object of the action, such as a command, a path or an address. */
  readonly subject: string
  /** Short facts, such as "exit code 1". */
  readonly facts: readonly string[]
  /** True when the pieces are shown at once; false when a click shows them. */
  readonly isOpen: boolean
  readonly pieces: readonly Piece[]
}

/** The action and the observation of a call; empty objects when they are missing. */
export interface Parts {
  readonly action: Members
  readonly observation: Members
}
