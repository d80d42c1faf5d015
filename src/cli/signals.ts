/**
 * Signals that ask the program to end: the first is heard here, so that work can be ended in order. Only
 * the command line listens to them; a library leaves them to its host.
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
