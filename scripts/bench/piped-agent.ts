/**
 * An agent that costs next to nothing: two `cat`, one between its stdin and a named pipe, one between another named
 * pipe and its stdout. The program that talks for it is at the other ends (see piped-agents).
 *
 * Fifty agents that are programs of their own would compile and collect garbage at the same moments, on the processors
 * that the server needs; then a gate measures them.
 */
import { join } from 'node:path'

export interface Pipes {
  /** What the server writes to the agent. */
  readonly input: string
  /** What the agent writes to the server. */
  readonly output: string
}

export function pipesOf(folder: string, agent: number): Pipes {
  return { input: join(folder, `${agent}.input`), output: join(folder, `${agent}.output`) }
}

/** The program and its arguments. */
export function pipedAgent(folder: string, agent: number): [string, ...string[]] {
  const { input, output } = pipesOf(folder, agent)
  // What a shell starts in the background has no stdin of its own, so its number is another one.
  return ['/bin/sh', '-c', 'exec 3<&0; cat <&3 >"$0" & exec cat "$1"', input, output]
}
