/**
 * Lists of language models, provider connections (keys that LLM profiles share), and sign-ins to subscriptions
 * (contract/others.md, section 5; contract/settings.md, section 9).
 *
 * Responses include null members. Times of provider connections are seconds since the epoch.
 */
import {
  address, arrayOf, boolean, closed, constant, defaultTo, integer, mapOf, nullable, omittable, optional, orNull, ref,
  required, response, secret, string, stringOf, tolerant, type Definitions, type Endpoint,
} from '../../schema/spec/define.ts'
import { conflict, get, inGroup, post, responseOf } from '../../schema/spec/operation.ts'

const shortText = stringOf({ minLength: 1, maxLength: 128 })
const url = nullable(stringOf({ maxLength: 2048 }))
const key = stringOf({ minLength: 1 })

export const definitions: Definitions = {
  LlmProviders: response('The providers that the built-in agent knows, sorted.', {
    providers: required(arrayOf(string)),
  }),
  LlmModelQuery: tolerant('The models to list.', { provider: optional(stringOf({ maxLength: 128 })) }),
  LlmModels: response('Names of models, with their provider, sorted.', { models: required(arrayOf(string)) }),
  VerifiedModels: response('Names of models, by provider.', { models: required(mapOf(arrayOf(string))) }),

  LlmBalance: response('The balance of an account: unknown.', { provider: required(nullable(string)) }),

  ProviderConnection: closed('A key and an address that LLM profiles share.', {
    id: required(string),
    display_name: required(shortText),
    provider: required(shortText),
    api_key: secret(required(string)),
    base_url: address(orNull(string)),
    created_at: required(integer),
    updated_at: required(integer),
  }),
  ProviderConnectionView: response('A provider connection without its key.', {
    id: required(string),
    display_name: required(string),
    provider: required(string),
    base_url: required(nullable(string)),
    created_at: required(integer),
    updated_at: required(integer),
    api_key_set: required(boolean),
  }),
  NewProviderConnection: closed('A provider connection to store.', {
    display_name: required(shortText),
    provider: defaultTo('custom', shortText),
    api_key: secret(required(key)),
    base_url: address(defaultTo(null, url)),
  }),
  ProviderConnectionChange: closed('Members of a provider connection to replace; at least one.', {
    display_name: omittable(shortText),
    provider: omittable(shortText),
    api_key: secret(omittable(key)),
    base_url: address(omittable(url, 'Null removes the address.')),
  }),

  SubscriptionModels: response('Models of a subscription.', {
    vendor: required(constant('openai')),
    models: required(arrayOf(string)),
  }),
  SubscriptionStatus: response('A sign-in to a subscription.', {
    vendor: required(constant('openai')),
    connected: required(boolean, 'Always false: this server has no sign-in to subscriptions.'),
    account_email: required(nullable(string)),
    expires_at: required(nullable(integer)),
  }),
}

const connections = '/api/llm/provider-connections'
const subscription = '/api/llm/subscription/openai'
const view = ref('ProviderConnectionView')
const noSignIn = responseOf('There is no sign-in to subscriptions', ref('ErrorDetail'))

export const endpoints: readonly Endpoint[] = inGroup('Models', [
  get('/api/llm/providers', 'List providers of models', ref('LlmProviders')),
  { ...get('/api/llm/models', 'List models', ref('LlmModels')), query: 'LlmModelQuery' },
  get('/api/llm/models/verified', 'List models by provider', ref('VerifiedModels')),
  get('/api/llm/balance', 'Get the balance of an account: no provider is asked', ref('LlmBalance')),
  get(connections, 'List provider connections', arrayOf(view)),
  {
    ...post(connections, 'Store a provider connection', 'NewProviderConnection'),
    responses: { 201: responseOf('Stored', view), 409: conflict('There are too many provider connections') },
  },
  {
    ...post(`${connections}/{connection_id}`, 'Change a provider connection', 'ProviderConnectionChange'),
    method: 'PATCH',
    responses: { 200: responseOf('Changed', view) },
  },
  {
    ...post(`${connections}/{connection_id}`, 'Remove a provider connection'),
    method: 'DELETE',
    responses: { 200: responseOf('Removed', view), 409: conflict('An LLM profile uses the connection') },
  },
  get(`${subscription}/models`, 'List the models of a subscription', ref('SubscriptionModels')),
  get(`${subscription}/status`, 'Get the state of the sign-in to a subscription', ref('SubscriptionStatus')),
  {
    ...post(`${subscription}/logout`, 'Forget the sign-in to a subscription'),
    responses: { 200: responseOf('There is no sign-in', ref('SubscriptionStatus')) },
  },
  { ...post(`${subscription}/device/start`, 'Sign in to a subscription'), responses: { 400: noSignIn } },
])
