/**
 * The routes that drive a conversation: runs, approvals, secrets, model and so on (contract/conversations.md, sections
 * 3, 4 and 6). A change is durable before its response is sent. But the response to a pause is sent after 5 s at most.
 */
import { setImmediate as endOfTurn } from 'node:timers/promises'
import { toJsonObject } from '../base/json.ts'
import type { ConversationService } from '../conversation/list/service.ts'
import type { HttpResponse } from '../http/reply.ts'
import {
  AskAgentRequest,
  ConfirmationResponseRequest,
  SetConfirmationPolicyRequest,
  SetSecurityAnalyzerRequest,
  SwitchAcpModeRequest,
  SwitchAcpModelRequest,
  SwitchAcpOptionRequest,
  SwitchLlmRequest,
  SwitchProfileRequest,
  UpdateSecretsRequest,
} from '../schema/generated/conversations.ts'
import type { SecretSource } from '../schema/generated/secrets.ts'
import type { ProfileStore } from '../settings/profiles.ts'
import { bodyOf, clientSignal, conversationIdOf, ok, success, type Call } from './call.ts'
import type { ConversationParts } from './conversations.ts'
import { keyedRequestOf } from './idempotency.ts'
import { tellMasking } from './secret-masking.ts'

export interface RunParts extends ConversationParts {
  readonly profiles: Pick<ProfileStore, 'load'>
}

export async function run({ service, keys }: ConversationParts, call: Call): Promise<HttpResponse> {
  const request = keyedRequestOf(call, 'run', keys)
  const conversation = await service.open(conversationIdOf(call))
  await conversation.run(request)
  return success
}

/** The dependency of handlers that only open a conversation. */
interface Conversations {
  readonly service: Pick<ConversationService, 'open'>
}

/** Returns `success`, after the sockets have written the frames about the change that the request made. */
async function told(): Promise<HttpResponse> {
  // A socket writes its frames at the end of the turn of the event loop (`ws/departure`).
  await endOfTurn()
  return success
}

export async function pause({ service }: Conversations, call: Call): Promise<HttpResponse> {
  const conversation = await service.open(conversationIdOf(call))
  await conversation.pause()
  return told()
}

export async function interrupt({ service }: Conversations, call: Call): Promise<HttpResponse> {
  const conversation = await service.open(conversationIdOf(call))
  await conversation.interrupt()
  return told()
}

export async function respondToConfirmation({ service, keys }: ConversationParts, call: Call): Promise<HttpResponse> {
  const { accept, reason, id } = bodyOf(call, ConfirmationResponseRequest)
  const request = keyedRequestOf(call, 'respond', keys)
  const conversation = await service.open(conversationIdOf(call))
  await conversation.respond({ accept, reason, id }, request)
  return told()
}

export async function listConfirmations({ service }: ConversationParts, call: Call): Promise<HttpResponse> {
  const conversation = await service.open(conversationIdOf(call))
  return ok({ items: conversation.confirmations() })
}

export async function setConfirmationPolicy({ service }: Conversations, call: Call): Promise<HttpResponse> {
  const { policy } = bodyOf(call, SetConfirmationPolicyRequest)
  const conversation = await service.open(conversationIdOf(call))
  await conversation.setConfirmationPolicy(toJsonObject(policy))
  return told()
}

export async function setSecurityAnalyzer({ service }: Conversations, call: Call): Promise<HttpResponse> {
  const { security_analyzer: analyzer } = bodyOf(call, SetSecurityAnalyzerRequest)
  const conversation = await service.open(conversationIdOf(call))
  await conversation.setSecurityAnalyzer(analyzer === null ? null : toJsonObject(analyzer))
  return told()
}

export async function addSecrets({ service, vault }: ConversationParts, call: Call): Promise<HttpResponse> {
  const { secrets } = bodyOf(call, UpdateSecretsRequest)
  const conversation = await service.open(conversationIdOf(call))
  const sources = sourcesOf(secrets)
  await conversation.addSecrets(vault.sealSources(conversation.id, sources, false))
  tellMasking(call, sources)
  return success
}

export async function switchLlm({ service, vault }: ConversationParts, call: Call): Promise<HttpResponse> {
  const { llm } = bodyOf(call, SwitchLlmRequest)
  const conversation = await service.open(conversationIdOf(call))
  conversation.switches.assertTakesModel()
  await conversation.switches.llm((agent) => vault.sealLlm(conversation.id, agent, llm))
  return success
}

export async function switchProfile({ service, vault, profiles }: RunParts, call: Call): Promise<HttpResponse> {
  const { profile_name: name } = bodyOf(call, SwitchProfileRequest)
  const conversation = await service.open(conversationIdOf(call))
  conversation.switches.assertTakesModel()
  const llm = { ...(await profiles.load(name)), usage_id: `profile:${name}` }
  await conversation.switches.llm((agent) => vault.sealLlm(conversation.id, agent, llm))
  return success
}

export async function switchAcpModel({ service }: ConversationParts, call: Call): Promise<HttpResponse> {
  const { model } = bodyOf(call, SwitchAcpModelRequest)
  const conversation = await service.open(conversationIdOf(call))
  await conversation.switches.model(model, clientSignal(call))
  return success
}

export async function switchAcpMode({ service }: ConversationParts, call: Call): Promise<HttpResponse> {
  const { mode } = bodyOf(call, SwitchAcpModeRequest)
  const conversation = await service.open(conversationIdOf(call))
  await conversation.switches.mode(mode, clientSignal(call))
  return success
}

export async function switchAcpOption({ service }: ConversationParts, call: Call): Promise<HttpResponse> {
  const { option_id, value } = bodyOf(call, SwitchAcpOptionRequest)
  const conversation = await service.open(conversationIdOf(call))
  await conversation.switches.option(option_id, value, clientSignal(call))
  return success
}

export async function askAgent({ service }: ConversationParts, call: Call): Promise<HttpResponse> {
  const { question } = bodyOf(call, AskAgentRequest)
  const conversation = await service.open(conversationIdOf(call))
  return ok({ response: await conversation.asides.ask(question, clientSignal(call)) })
}

export async function condense({ service }: ConversationParts, call: Call): Promise<HttpResponse> {
  const conversation = await service.open(conversationIdOf(call))
  await conversation.asides.condense(clientSignal(call))
  return success
}

export async function getFinalResponse({ service }: ConversationParts, call: Call): Promise<HttpResponse> {
  return ok({ response: await service.read(conversationIdOf(call), (events) => events.finalResponse()) })
}

/** Returns the secret sources of a request. A bare string becomes a source with that value. */
function sourcesOf(secrets: Readonly<Record<string, string | SecretSource>>): Record<string, SecretSource> {
  const entries = Object.entries(secrets).map(([name, source]): [string, SecretSource] => [
    name,
    typeof source === 'string' ? { kind: 'StaticSecret', value: source } : source,
  ])
  return Object.fromEntries(entries)
}
