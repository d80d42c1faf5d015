/** The address of the console for a browser. */

/**
 * Returns the address of the console of the server at `url`, with a code that signs in. The code is in the fragment,
 * which browsers do not send. An address of all interfaces is replaced by that of this machine.
 */
export function consoleAddress(url: string, code?: string): string {
  const reached = url.replace(/^http:\/\/(?:0\.0\.0\.0|\[::\])(?=[:/]|$)/, 'http://127.0.0.1').replace(/\/$/, '')
  return `${reached}/console/${code === undefined ? '' : `#code=${code}`}`
}
