/**
 * Who is measured beside a limit: this server, or a peer that does the same work and answers the same questions.
 */
import { startChild, type Child } from './child.ts'

export interface Subject {
  /** Empty for this server. */
  readonly name: string
  /** Starts the program of this name, of its own or of a peer. */
  start(program: string): Promise<Child>
}

export const ourselves: Subject = { name: '', start: async (program) => startChild(program) }
