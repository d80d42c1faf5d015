/**
 * Who is measured beside a limit: this server, or a peer that does the same work and answers the same questions.
 */
import { startChild, type Child } from './child.ts'

export interface Subject {
  /** Stands before the name of a row; empty for this server. */
  readonly name: string
  /** Starts the program of this name, of its own or of a peer. */
  start(program: string): Promise<Child>
}

export const ourselves: Subject = { name: '', start: async (program) => startChild(program) }

/** What a row of this subject is called. */
export function rowName({ name }: { readonly name: string }, what: string): string {
  return name === '' ? what : `${name}: ${what}`
}
