/**
 * Checks `acp_env`: environment variables of an external agent that are not secrets (decisions 23).
 *
 * The variables are shown to clients and not masked in texts. A variable that steers programs, such as `LD_PRELOAD`,
 * is refused.
 */
import { isLoaderVariable } from '../base/loader-variable.ts'

const nameForm = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/
const valueLimitChars = 8192

/** Returns the problem with the first variable that is not allowed; undefined if all are allowed. */
export function problemWithAcpEnv(variables: Readonly<Record<string, string>>): string | undefined {
  for (const [name, value] of Object.entries(variables)) {
    const shown = `the variable ${JSON.stringify(name.slice(0, 64))} of "acp_env"`
    if (!nameForm.test(name)) return `${shown} needs a name of letters, digits and "_"`
    if (isLoaderVariable(name)) return `${shown} decides which code programs load`
    if (value.length > valueLimitChars) return `${shown} is longer than ${valueLimitChars} characters`
    if (value.includes('\0')) return `${shown} holds a NUL character`
  }
  return undefined
}
