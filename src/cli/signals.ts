/**
 * What ends the program from outside its own flow: signals, of which the first is heard here, so that work can be ended
 * in order, and errors that nobody has caught. Only the command line listens to them; a library leaves them to its host.
 */

/** Calls back at the first signal; the second one ends the process as it would have without us. */
export function onSignals(first: () => void): () => void {
  const signals = ['SIGTERM', 'SIGINT'] as const
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

/** Ends the process with 1 when an error or a rejection was not caught, after it was told; its words may hold a secret. */
export function onCrash(tell: (words: string) => void): () => void {
  const end = (thrown: unknown): void => {
    tell(thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown))
    process.exit(1)
  }
  process.on('uncaughtException', end)
  return () => void process.off('uncaughtException', end)
}
