/**
 * The rules of the spec's "Credentials of external agents" for one provider: what to take out of the child's finished
 * environment, what to add, and how to authenticate. Pure; where a variable came from does not matter (decisions 23).
 *
 *   login    API key   base URL                                 rule
 *   yes      removed   stays                                    3, 5: the login wins, the address still counts
 *   no       stays     stays                                    1
 *   unknown  stays     stays                                    2: a keychain cannot be seen
 *   any      removed   removed   where the provider says that   6: provider A with its config-directory variable
 *                                its config directory strips
 *
 * A base URL reaches the program through its variable (A), through `CODEX_CONFIG` because it ignores the variable (B),
 * or as the ACP `gateway` parameter (C, rule 5). A `CODEX_CONFIG` that the user has set is left alone. B with a key
 * always gets an address that way, its provider's public one if need be: it works without `authenticate` then, which
 * would store the key in the user's own login file. Rule 6 holds for a config directory that this server sets, too.
 */
import { assertNever } from '../base/errors.ts'
import { isSet, type Login } from './login.ts'
import type { Provider } from './provider.ts'

export interface CredentialInput {
  readonly provider: Provider
  /** The finished environment of the child. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly login: Login
}

export interface CredentialPlan {
  /** Variables to take away, in the order of the rules; only such as are there. */
  readonly remove: readonly string[]
  readonly add: Readonly<Record<string, string>>
  /** What to send as ACP `authenticate` when the agent offers the method; undefined for nothing. */
  readonly authenticate: Authentication | undefined
  /** Authenticating rewrites the settings in the user's home directory: give the child a home of its own. */
  readonly ownHome: boolean
}

/** The parameters of ACP `authenticate`. */
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
  login: Login,
  keyVariable: string | undefined,
): Authentication | undefined {
  const methodId = login === 'yes' ? provider.loginMethod : keyVariable === undefined ? null : provider.keyMethod
  return methodId === null ? undefined : { methodId }
}

/** The name of the model provider that the base URL becomes in Codex's configuration. */
const codexProvider = 'agent_server'

/**
 * With a key, a model provider of our own: it needs no `authenticate` and starts at once. Without one the login is
 * kept, and only the address of the built-in provider changes.
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
