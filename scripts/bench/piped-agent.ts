/**
 * An agent that costs next to nothing: two `cat`, one between its stdin and a named pipe, one between another named
 * pipe and its stdout. The program that talks for it is at the other ends (see piped-agents).
 *
 * Fifty agents that are programs of their own would compile and collect garbage at the same moments, on the processors
 * that the server needs; then a gate measures them.
 */
import { join } from 'node:path'

export interface Pipes {
  /** The path of the pipe that the server writes to and the agent reads. */
  readonly input: string
  /** The path of the pipe that the agent writes to and the server reads. */
  readonly output: string
}

export function pipesOf(folder: string, agent: number): Pipes {
  return { input: join(folder, `${agent}.input`), output: join(folder, `${agent}.output`) }
}

/** The program and its arguments. */
export function pipedAgent(folder: string, agent: number): [string, ...string[]] {
  const { input, output } = pipesOf(folder, agent)
  // A program that a shell starts in the background has no stdin of its own, so stdin is passed on as descriptor 3.
  return ['/bin/sh', '-c', 'exec 3<&0; cat <&3 >"$0" & exec cat "$1"', input, output]
}
