/**
 * The events that end the program from outside its own flow: signals, an output that nobody reads any more, and errors
 * that nobody has caught. Only the command line listens to them; a library leaves them to its host.
 *
 * SIGHUP (the terminal was closed) is treated as SIGTERM. Node resets inherited signal dispositions at its start, so a
 * SIGHUP that `nohup` has set to ignore ends a Node program in any case.
 */
import { closeSync } from 'node:fs'
import { isatty } from 'node:tty'
import { AppError, systemCodeOf } from '../base/errors.ts'

const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** Calls back at the first signal. The second one ends the process as if nobody listened. Returns the way to stop listening. */
export function onSignals(first: () => void): () => void {
  const hear = (): void => {
    stop()
    first()
  }
  const stop = (): void => {
    for (const signal of signals) process.off(signal, hear)
  }
  for (const signal of signals) process.on(signal, hear)
  return stop
}

/**
 * Aborts at the first signal, or when standard output fails: `agent-server doctor | head -1` ends when `head` has. The
 * reason is an AppError for a signal, and the error of the write for the output. Returns the way to stop listening.
 */
export function onInterrupt(ended: AbortController, words = 'Interrupted'): () => void {
  const fail = (error: Error): void => ended.abort(error)
  const stopListening = onSignals(() => ended.abort(new AppError('unavailable', words)))
  process.stdout.on('error', fail)
  return () => {
    stopListening()
    process.stdout.off('error', fail)
  }
}

/**
 * Keeps standard streams that are lost from ending the program: a failed write is ignored, and a terminal that has gone is
 * closed before the exit, where Node would restore its modes and abort because it cannot.
 */
export function surviveLostStreams(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', ignore)
  const terminals = [0, 1, 2].filter(isatty)
  process.on('exit', () => {
    for (const descriptor of terminals) if (!isatty(descriptor)) closeSync(descriptor)
  })
}

/** True for the error of a write whose reader has gone: a closed pipe (EPIPE) or a closed terminal (EIO). */
export function isReaderGone(thrown: unknown): boolean {
  return ['EPIPE', 'EIO'].includes(systemCodeOf(thrown) ?? '')
}

/** Ends the process with 1 when an error or a rejection was not caught, after it was told; its words may hold a secret. */
export function onCrash(tell: (words: string) => void): () => void {
  const end = (thrown: unknown): void => {
    tell(thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown))
    process.exit(1)
  }
  process.on('uncaughtException', end)
  return () => void process.off('uncaughtException', end)
}

function ignore(): void {}
