/**
 * An MCP server that is a program of ours: messages on its standard input and output, one in a line (MCP 2025-06-18,
 * transports, "stdio").
 *
 * What it prints on the error output is kept as its last words, no more. When it has ended, or is closed, everything it
 * started is ended too (process/child).
 */
import { within } from '../../base/wait.ts'
import type { Child, ChildOptions } from '../../process/child.ts'
import { LineFraming } from '../../rpc/lines.ts'
import { withoutBatches } from './batches.ts'
import { usualMessageLimits, type MessageLimits, type Transport } from './transport.ts'

/** What is needed of a child process. */
export type ServerProcess = Pick<Child, 'stdin' | 'stdout' | 'exited' | 'stderrTail' | 'stop'>
export type StartServer = (options: ChildOptions) => Promise<ServerProcess>

/** How long the last lines of a program may take after its exit. */
const lastLinesMs = 1000
const lastWordsLimit = 300
/** What may wait to be taken by it. */
const queueLimitBytes = 16 * 1024 * 1024
/** How long it may take after its input has ended, and then again after SIGTERM. */
const graceMs = 2000

export interface StdioTransportOptions {
  readonly start: StartServer
  readonly program: ChildOptions
  /** Takes out of its last words what nobody may see, before anything of them is cut off. */
  readonly mask: (text: string) => string
  readonly limits?: MessageLimits | undefined
}

/** @throws AppError `agent_failed` when it cannot be started. */
export async function startStdioTransport(options: StdioTransportOptions): Promise<Transport> {
  const { start, program, mask, limits = usualMessageLimits } = options
  const child = await start(program)
  const framing = withoutBatches(new LineFraming({
    input: child.stdout,
    output: child.stdin,
    lineLimitBytes: limits.limitBytes,
    valueLimit: limits.valueLimit,
    queueLimitBytes,
  }))
  const close = (): Promise<void> => child.stop({ graceMs })
  const drained = new Promise<void>((resolve) => child.stdout.once('close', resolve))
  // Something that it started may hold its output: then there is no end to be seen. Who closes is told of a failure.
  void child.exited.then(() => within(drained, lastLinesMs)).then(close).catch(() => undefined)
  return { framing, agree: () => undefined, reasonOfEnd: () => reasonOf(child, mask), close }
}

async function reasonOf(child: ServerProcess, mask: (text: string) => string): Promise<string> {
  const exit = await within(child.exited, lastLinesMs)
  if (exit === 'late') return 'The server closed its output'
  const how = exit.code === null ? `was ended by ${exit.signal ?? 'a signal'}` : `exited with code ${exit.code}`
  const words = mask(child.stderrTail()).trim().slice(-lastWordsLimit)
  return words === '' ? `The server ${how}` : `The server ${how}: ${words}`
}
