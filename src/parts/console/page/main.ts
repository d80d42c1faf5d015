/**
 * The entry of the page: signs in and shows the console. A one-time code is removed from the address, so that it is not
 * in the browser's history.
 */
import { ServerApi } from './api.ts'
import { applyColours } from './colours.ts'
import { showSignIn } from './sign-in.ts'
import { openShell } from './shell.ts'
import type { View } from './router.ts'

const code = takeCode()
applyColours()
void start()

async function start(): Promise<void> {
  const api = new ServerApi()
  const problem = code === undefined ? undefined : await api.signInWithCode(code)
  const isSignedIn = code !== undefined && problem === undefined ? true : await api.isSignedIn()
  let shell: View | undefined
  const open = (): void => {
    shell = openShell(document.body, api)
  }
  api.onSignedOut = () => {
    shell?.close()
    showSignIn(document.body, api, undefined, open)
  }
  if (isSignedIn) open()
  else showSignIn(document.body, api, problem, open)
}

/** Removes the one-time code from the address and returns it; undefined when there is no code. */
function takeCode(): string | undefined {
  const [, found] = /^#code=([\w-]+)$/.exec(location.hash) ?? []
  if (found !== undefined) history.replaceState(null, '', location.pathname)
  return found
}
