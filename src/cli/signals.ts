/**
 * The events that end the program from outside: signals, an output without a reader, and uncaught errors. Only the
 * command line listens to them; a library leaves them to its host.
 *
 * SIGHUP (the terminal was closed) is treated as SIGTERM. Node resets inherited signal dispositions at its start, so
 * `nohup` cannot make a Node program ignore SIGHUP.
 */
import { closeSync } from 'node:fs'
import { isatty } from 'node:tty'
import { AppError, systemCodeOf } from '../base/errors.ts'

const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/**
 * Calls `first` at the first signal. The second signal ends the process by default. Returns the function that stops
 * listening.
 */
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
 * Aborts at the first signal, or when standard output fails: `agent-server doctor | head -1` ends when `head` has
 * ended. The reason is an AppError for a signal, and the write error for the output. Returns the function that stops
 * listening.
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
 * Keeps the program running when its standard streams are lost. A failed write is ignored. A terminal that has gone
 * is closed before the exit, where Node would otherwise try to restore its modes and abort.
 */
export function surviveLostStreams(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', ignore)
  const terminals = [0, 1, 2].filter(isatty)
  process.on('exit', () => {
    for (const descriptor of terminals) if (!isatty(descriptor)) closeSync(descriptor)
  })
}

/** True for the error of a write without a reader: a closed pipe (EPIPE) or a closed terminal (EIO). */
export function isReaderGone(thrown: unknown): boolean {
  return ['EPIPE', 'EIO'].includes(systemCodeOf(thrown) ?? '')
}

/** Ends the process with 1 after an uncaught error or rejection was passed to `tell`. The text may hold a secret. */
export function onCrash(tell: (words: string) => void): () => void {
  const end = (thrown: unknown): void => {
    tell(thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown))
    process.exit(1)
  }
  process.on('uncaughtException', end)
  return () => void process.off('uncaughtException', end)
}

function ignore(): void {}
