/**
 * Plans the credentials of an external agent: variables to remove from and to add to its environment, and the
 * parameters of ACP `authenticate` (spec: "Credentials of external agents", where the rules are; decisions 23).
 *
 *     login    API key   base URL                                 rule
 *     yes      removed   stays                                    3, 5: the login wins
 *     no       stays     stays                                    1
 *     unknown  stays     stays                                    2: a keychain cannot be inspected
 *     any      removed   removed   with `configDirStripsKey`      6: Claude Code with its config-directory variable
 *
 * A base URL reaches the program as `baseUrlVia` says (rule 5).
 */
import { assertNever } from '../base/errors.ts'
import { isSet, type LoginState } from './login.ts'
import type { Provider } from './provider.ts'

export interface CredentialInput {
  readonly provider: Provider
  /** The environment of the agent's process before the plan changes it. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly login: LoginState
}

export interface CredentialPlan {
  /** Names of the environment's variables to remove: the variables with a key, then the variable with the base URL. */
  readonly remove: readonly string[]
  readonly add: Readonly<Record<string, string>>
  /** The parameters of ACP `authenticate`, sent if the agent offers `methodId`; undefined for no authentication. */
  readonly authenticate: Authentication | undefined
  /** True when authenticating rewrites the settings in the user's home directory. The agent then gets its own home. */
  readonly ownHome: boolean
}

export interface Authentication {
  readonly methodId: string
  readonly _meta?: Readonly<Record<string, unknown>>
}

export function planCredentials({ provider, environment, login }: CredentialInput): CredentialPlan {
  const keyVariables = [...provider.otherKeyVariables, provider.apiKeyVariable]
  const strips = provider.configDirStripsKey && isSet(environment[provider.configDirVariable])
  const removedKeys = login === 'yes' || strips ? keyVariables : []
  const removedUrls = strips ? [provider.baseUrlVariable] : []
  const remove = [...removedKeys, ...removedUrls].filter((name) => environment[name] !== undefined)
  const keyVariable = keyVariables.find((name) => isSet(environment[name]) && !remove.includes(name))
  const publicUrl = keyVariable === undefined ? null : provider.publicBaseUrl
  const baseUrl = strips ? undefined : [environment[provider.baseUrlVariable], publicUrl ?? undefined].find(isSet)
  const authenticate = plainAuthentication(provider, login, keyVariable)
  if (!isSet(baseUrl)) return { remove, add: {}, authenticate, ownHome: false }
  switch (provider.baseUrlVia) {
    case 'environment':
      return { remove, add: {}, authenticate, ownHome: false }
    case 'codex-config':
      return { remove, ...codexPlan(environment, baseUrl, keyVariable, authenticate), ownHome: false }
    case 'gateway':
      return { remove, add: {}, authenticate: gateway(baseUrl, keyVariable && environment[keyVariable]), ownHome: true }
    default:
      return assertNever(provider.baseUrlVia)
  }
}

function plainAuthentication(
  provider: Provider,
  login: LoginState,
  keyVariable: string | undefined,
): Authentication | undefined {
  const methodId = login === 'yes' ? provider.loginMethod : keyVariable === undefined ? null : provider.keyMethod
  return methodId === null ? undefined : { methodId }
}

/** Name of the model provider in Codex's configuration that holds the base URL. */
const codexProvider = 'agent_server'

/**
 * Plans the credentials of Codex for a base URL. With a key, sets CODEX_CONFIG to an extra model provider, which needs
 * no `authenticate`. Without a key, sets it to the URL alone. Adds nothing if CODEX_CONFIG is set already.
 */
function codexPlan(
  environment: CredentialInput['environment'],
  baseUrl: string,
  keyVariable: string | undefined,
  authenticate: Authentication | undefined,
): Pick<CredentialPlan, 'add' | 'authenticate'> {
  if (isSet(environment['CODEX_CONFIG'])) return { add: {}, authenticate }
  if (keyVariable === undefined) {
    return { add: { CODEX_CONFIG: JSON.stringify({ openai_base_url: baseUrl }) }, authenticate }
  }
  const provider = { name: 'Agent server', base_url: baseUrl, wire_api: 'responses', env_key: keyVariable }
  const config = { model_provider: codexProvider, model_providers: { [codexProvider]: provider } }
  return { add: { CODEX_CONFIG: JSON.stringify(config), MODEL_PROVIDER: codexProvider }, authenticate: undefined }
}

function gateway(baseUrl: string, apiKey: string | undefined): Authentication {
  const key = apiKey === undefined ? {} : { 'api-key': apiKey }
  return { methodId: 'gateway', _meta: { gateway: { baseUrl }, ...key } }
}
