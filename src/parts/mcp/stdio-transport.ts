/**
 * An MCP server that runs as a child process: one message per line on its standard input and output (MCP 2025-06-18,
 * transports, "stdio").
 *
 * After the process has exited, the processes that it started are ended too (process/child).
 */
import { within } from '../../base/wait.ts'
import type { Child, ChildOptions } from '../../process/child.ts'
import { LineFraming } from '../../rpc/lines.ts'
import { withoutBatches } from './batches.ts'
import { usualMessageLimits, type MessageLimits, type Transport } from './transport.ts'

/** The members of a child process that the transport uses. */
export type ServerProcess = Pick<Child, 'stdin' | 'stdout' | 'exited' | 'stderrTail' | 'stop'>
export type StartServer = (options: ChildOptions) => Promise<ServerProcess>

/** The longest wait, in ms, from the program's exit to the end of its output, or from that end to the exit. */
const lastLinesMs = 1000
const lastWordsLimit = 300
/** The most bytes queued for the program's input. */
const queueLimitBytes = 16 * 1024 * 1024
/** The time in milliseconds that a program has to exit after SIGTERM. */
const graceMs = 2000

export interface StdioTransportOptions {
  readonly start: StartServer
  readonly program: ChildOptions
  /** Masks secrets in the end of the server's stderr, before the text is cut. */
  readonly mask: (text: string) => string
  readonly limits?: MessageLimits | undefined
}

/** Starts the program of a server. @throws AppError `agent_failed` when the program cannot be started. */
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
  // Another process may keep stdout open, so the wait has a limit. If `close` fails here, a later call reports it.
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
