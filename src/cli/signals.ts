/** Handles signals, failed writes to the standard streams, and uncaught errors. */
import { closeSync } from 'node:fs'
import { isatty } from 'node:tty'
import { AppError, systemCodeOf } from '../base/errors.ts'

const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

export type EndSignal = (typeof signals)[number]

/**
 * At the first SIGTERM, SIGINT or SIGHUP, stops listening and calls `first`, so that a second signal ends the process.
 * With `hangup`, each SIGHUP calls `hangup` instead. Returns a function that stops listening.
 */
export function onSignals(first: (signal: EndSignal) => void, hangup?: () => void): () => void {
  const ending = hangup === undefined ? signals : signals.filter((signal) => signal !== 'SIGHUP')
  const hear = (signal: EndSignal): void => {
    stop()
    first(signal)
  }
  const stop = (): void => {
    for (const signal of ending) process.off(signal, hear)
  }
  for (const signal of ending) process.on(signal, hear)
  if (hangup === undefined) return stop
  process.on('SIGHUP', hangup)
  return () => {
    stop()
    process.off('SIGHUP', hangup)
  }
}

/**
 * Aborts `ended` at the first SIGTERM, SIGINT or SIGHUP, or when standard output fails. Returns a function that stops
 * listening.
 */
export function onInterrupt(ended: AbortController, words: string): () => void {
  const fail = (error: Error): void => ended.abort(error)
  const stopListening = onSignals(() => ended.abort(new AppError('unavailable', words)))
  process.stdout.on('error', fail)
  return () => {
    stopListening()
    process.stdout.off('error', fail)
  }
}

/**
 * Ignores failed writes to standard output and standard error. Closes a lost terminal right before the exit: otherwise
 * Node would try to restore the terminal's modes, and abort.
 */
export function surviveLostStreams(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', ignore) // The reader has gone.
  const terminals = [0, 1, 2].filter(isatty)
  process.on('exit', () => {
    for (const descriptor of terminals) if (!isatty(descriptor)) closeSync(descriptor)
  })
}

/** True for the error of a write to a closed pipe (EPIPE) or a closed terminal (EIO). */
export function isReaderGone(thrown: unknown): boolean {
  return ['EPIPE', 'EIO'].includes(systemCodeOf(thrown) ?? '')
}

/**
 * Passes an uncaught error or rejection, unmasked, to `tell`, then ends the process with exit code 1. Returns a
 * function that stops listening.
 */
export function onCrash(tell: (words: string) => void): () => void {
  const end = (thrown: unknown): void => {
    tell(thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown))
    process.exit(1)
  }
  process.on('uncaughtException', end)
  return () => void process.off('uncaughtException', end)
}

function ignore(): void {}
