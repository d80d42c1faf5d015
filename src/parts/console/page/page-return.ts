/** Tells when the page becomes visible or goes online, which is the time to try a lost connection again. */

/**
 * Calls `returned` each time the page becomes visible, or goes online while it is visible. Returns a function that ends
 * the calls.
 */
export function onPageReturn(returned: () => void): () => void {
  const wake = (): void => {
    if (document.visibilityState === 'visible') returned()
  }
  addEventListener('online', wake)
  document.addEventListener('visibilitychange', wake)
  return () => {
    removeEventListener('online', wake)
    document.removeEventListener('visibilitychange', wake)
  }
}
