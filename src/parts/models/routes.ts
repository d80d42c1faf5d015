/**
 * Handlers for lists of models, provider connections and subscriptions (contract/others.md, section 5;
 * contract/settings.md, section 9). The handlers send no request to a provider. There is no sign-in to subscriptions.
 */
import { AppError } from '../../base/errors.ts'
import { text } from '../../http/query.ts'
import type { HttpResponse } from '../../http/reply.ts'
import { parameterOf } from '../../http/router.ts'
import { NewProviderConnection, ProviderConnectionChange } from './generated.ts'
import type { ProfileStore } from '../../settings/profiles.ts'
import type { SettingsStore } from '../../settings/store.ts'
import { bodyOf, ok, queryOf, type Call } from '../../api/call.ts'
import { jsonResponse } from '../../api/problem.ts'
import type { ProviderConnectionStore } from './connections.ts'
import { modelsOf, providers, verifiedModels } from './models-table.ts'

export interface ModelParts {
  readonly connections: ProviderConnectionStore
  readonly llmProfiles: Pick<ProfileStore, 'list'>
  readonly settings: Pick<SettingsStore, 'get'>
}

const modelQuery = { provider: text({ maxLength: 128 }) }

export function listProviders(): HttpResponse {
  return ok({ providers })
}

export function listModels(call: Call): HttpResponse {
  return ok({ models: modelsOf(queryOf(call, modelQuery).provider) })
}

export function listVerifiedModels(): HttpResponse {
  return ok({ models: verifiedModels })
}

/** Responds without a balance, because this server asks no provider for it. */
export function getBalance(): HttpResponse {
  return ok({ provider: null })
}

export async function listConnections({ connections }: ModelParts): Promise<HttpResponse> {
  return ok(await connections.list())
}

export async function addConnection({ connections }: ModelParts, call: Call): Promise<HttpResponse> {
  return jsonResponse(201, await connections.add(bodyOf(call, NewProviderConnection)))
}

export async function changeConnection({ connections }: ModelParts, call: Call): Promise<HttpResponse> {
  const change = bodyOf(call, ProviderConnectionChange)
  if (Object.keys(change).length === 0) {
    throw new AppError('invalid_input', 'Provide at least one provider connection field to update')
  }
  return ok(await connections.change(connectionIdOf(call), change))
}

export async function removeConnection(parts: ModelParts, call: Call): Promise<HttpResponse> {
  const id = connectionIdOf(call)
  return ok(await parts.connections.remove(id, () => assertUnused(id, parts)))
}

export function listSubscriptionModels(): HttpResponse {
  return ok({ vendor, models: [] })
}

export function getSubscription(): HttpResponse {
  return ok({ vendor, connected: false, account_email: null, expires_at: null })
}

export function signInToSubscription(): never {
  throw new AppError('bad_request', 'This server has no sign-in to subscriptions: store a key of the provider instead')
}

const vendor = 'openai'

function connectionIdOf({ parameters }: Call): string {
  return parameterOf(parameters, 'connection_id')
}

/** Checks that no LLM profile and no LLM in the agent settings refers to a connection. @throws AppError `conflict` */
async function assertUnused(id: string, { llmProfiles, settings }: ModelParts): Promise<void> {
  const users = (await llmProfiles.list()).filter((profile) => profile.provider_connection_id === id)
  const isActive = (await settings.get()).agent_settings.llm.provider_connection_id === id
  if (users.length === 0 && !isActive) return
  const names = users.map(({ name }) => name).join(', ')
  const reasons = [
    ...(users.length === 0 ? [] : [`referenced by LLM profile(s): ${names}`]),
    ...(isActive ? ['referenced by the active agent settings'] : []),
  ]
  throw new AppError('conflict', `Provider connection cannot be deleted while it is ${reasons.join(' and ')}`)
}
