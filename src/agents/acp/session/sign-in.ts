/**
 * Tells a client that an agent lacks a valid credential, and which variable to set or which login command to run.
 *
 * The error ACPAuthRequired has the advice in its detail. `agent_state` has the variable and the command until a
 * session starts again (contract/spec: Credentials 1 to 4).
 */
import { objectsOf, textOf } from '../../../base/fields.ts'
import type { JsonObject } from '../../../base/json.ts'
import type { AgentHost } from '../../../conversation/agent/host.ts'
import type { LoginState } from '../../../settings/login.ts'
import type { Provider } from '../../../settings/providers.ts'
import { AcpFailure, cutDetail } from './failure.ts'

/** Facts about the credentials with which a program was started. */
export interface SignIn {
  /** The provider of the program; undefined for a program that is not in the provider table. */
  readonly provider: Provider | undefined
  readonly login: LoginState
  /** The names of the provider's variables that were removed from the environment before the start. */
  readonly removed: readonly string[]
}

/** An authentication method from the result of `initialize`. */
export interface AuthMethod {
  readonly id: string
  readonly name?: string
  readonly description?: string
}

const methodLimit = 20

export function readAuthMethods(value: unknown): AuthMethod[] {
  return objectsOf(value).slice(0, methodLimit).flatMap((method) => {
    const [id, name, description] = [method['id'], method['name'], method['description']].map(textOf)
    if (id === undefined) return []
    return [{ id, ...(name === undefined ? {} : { name }), ...(description === undefined ? {} : { description }) }]
  })
}

/** Returns the members of `agent_state` about sign-ins for an open session: no sign-in is required. */
export function signedInState({ provider, login }: SignIn): JsonObject {
  return { acp_auth_required: null, ...(provider === undefined ? {} : { acp_login: login }) }
}

/**
 * For a failure with the code ACPAuthRequired: shows in `agent_state` that a credential is missing, and returns the
 * failure with advice in its text. Returns any other failure unchanged.
 */
export function askToSignIn(
  failure: AcpFailure,
  signIn: SignIn,
  methods: readonly AuthMethod[],
  host: Pick<AgentHost, 'mask' | 'state'>,
): AcpFailure {
  if (failure.code !== 'ACPAuthRequired') return failure
  const shown = (text: string): string => cutDetail(host.mask(text))
  const { provider, login } = signIn
  host.state({
    acp_auth_required: {
      methods: methods.map((method) => ({
        id: shown(method.id),
        ...(method.name === undefined ? {} : { name: shown(method.name) }),
        ...(method.description === undefined ? {} : { description: shown(method.description) }),
      })),
      api_key_variable: provider?.apiKeyVariable || null,
      login_command: provider?.loginCommand || null,
    },
    ...(provider === undefined ? {} : { acp_login: login }),
  })
  return new AcpFailure(failure.code, `${failure.message}. ${adviceFor(signIn)}`, failure)
}

function adviceFor({ provider, login, removed }: SignIn): string {
  if (provider === undefined || provider.apiKeyVariable === '') {
    return 'Store the credential that the agent reads as a secret with the name of its variable, '
      + 'or sign in with its own program'
  }
  const { apiKeyVariable, loginCommand, configDirVariable } = provider
  const signingIn = loginCommand === ''
    ? 'sign in with its own program'
    : `sign in with "${loginCommand}" on the server's machine`
  const isWithheld = removed.includes(apiKeyVariable)
  if (login === 'yes') {
    const about = isWithheld ? `and the key in ${apiKeyVariable} was not` : `and no key in ${apiKeyVariable} was needed`
    return `The login of ${provider.displayName} was used, ${about}: ${signingIn} again, or sign out to use a key`
  }
  if (isWithheld) {
    return `${apiKeyVariable} was not passed on because ${configDirVariable} is set: ${signingIn}, or unset that`
  }
  return `Store a key as the secret ${apiKeyVariable}, or ${signingIn}`
}
