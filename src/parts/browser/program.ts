/** Finds the browser program, and tells whether it refuses to start as the server's user. */
import { constants } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { AppError } from '../../base/errors.ts'
import { access } from '../../base/read-files.ts'

const programNames = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome']

/** Returns `program`; if unset, the first browser in the PATH. @throws AppError `unavailable` if none is executable */
export async function findBrowser(program: string | undefined, searchPath: string): Promise<string> {
  const candidates = program === undefined
    ? searchPath.split(delimiter).filter(isAbsolute).flatMap((folder) => programNames.map((name) => join(folder, name)))
    : [program]
  for (const candidate of candidates) {
    // A candidate that cannot be executed is skipped.
    if (await access(candidate, constants.X_OK).then(() => true, () => false)) return candidate
  }
  const missing =
    program === undefined ? `none of ${programNames.join(', ')} is in the PATH` : `"${program}" cannot be executed`
  const advice = 'install Chromium (Debian and Ubuntu: apt install chromium) or name the program with --browser'
  throw new AppError('unavailable', `No browser is installed: ${missing}; ${advice}`)
}

/** True for root, because Chromium does not start with its sandbox as root. */
export function refusesSandbox(): boolean {
  return process.getuid?.() === 0
}
