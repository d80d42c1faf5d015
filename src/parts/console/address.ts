/** The address of the console for a browser. */

/**
 * Returns the address of the console of the server at `url`. The sign-in code `code` is put into the fragment, which
 * browsers do not send. In an http address, `127.0.0.1` replaces the hosts `0.0.0.0` and `[::]`.
 */
export function consoleAddress(url: string, code?: string): string {
  const reached = url.replace(/^http:\/\/(?:0\.0\.0\.0|\[::\])(?=[:/]|$)/, 'http://127.0.0.1').replace(/\/$/, '')
  return `${reached}/console/${code === undefined ? '' : `#code=${code}`}`
}
