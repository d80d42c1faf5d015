/** The address of the console for a browser. */

/**
 * Returns the address of the console of the server at `url`. With `code` the address also signs in. The code is in the
 * fragment, which browsers do not send. The host of an http address that means all interfaces (`0.0.0.0`, `[::]`)
 * becomes `127.0.0.1`.
 */
export function consoleAddress(url: string, code?: string): string {
  const reached = url.replace(/^http:\/\/(?:0\.0\.0\.0|\[::\])(?=[:/]|$)/, 'http://127.0.0.1').replace(/\/$/, '')
  return `${reached}/console/${code === undefined ? '' : `#code=${code}`}`
}
