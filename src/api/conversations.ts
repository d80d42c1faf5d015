/**
 * The routes that create, list, count, read, change, copy, navigate and delete conversations
 * (contract/conversations.md, section 4). The response to a change is sent when the change is durable.
 */
import { AppError, undefinedIfMissing } from '../base/errors.ts'
import type { AgentVault } from '../conversation/agent/vault.ts'
import { settleRequest, type CreationDeps } from '../conversation/list/creation.ts'
import { chooseId, dashed } from '../conversation/list/ids.ts'
import type { Made } from '../conversation/list/creations.ts'
import type { Created } from '../conversation/log/origins.ts'
import type { ConversationService } from '../conversation/list/service.ts'
import { makerOf } from '../http/principal.ts'
import { boolean, integer, list, oneOf, required, text, uuid, withDefault } from '../http/query.ts'
import type { HttpResponse } from '../http/reply.ts'
import {
  executionStatusValues,
  ForkConversationRequest,
  NavigateRequest,
  StartConversationRequest,
  UpdateConversationRequest,
} from '../schema/generated/conversations.ts'
import {
  bodyOf, conversationIdOf, exposeHeader, invalid, ok, optionalBodyOf, queryOf, success, tellIgnored, tooLong,
  type Call,
} from './call.ts'
import { keyedRequestOf, type KeyParts } from './idempotency.ts'
import { userMessageOf } from '../conversation/log/user-message.ts'
import { filterFor, hidden, withOwnTag } from './permission.ts'
import { jsonResponse } from './problem.ts'
import { tellMasking } from './secret-masking.ts'

export interface ConversationParts {
  readonly service: ConversationService
  readonly vault: AgentVault
  readonly creation: CreationDeps
  readonly keys: KeyParts
}

const includeSkills = { include_skills: withDefault(boolean(), false) }
const statusFilter = { status: oneOf(executionStatusValues) }
const search = {
  ...includeSkills,
  ...statusFilter,
  page_id: text({ maxLength: 64 }),
  limit: withDefault(integer({ min: 1, max: 100 }), 100),
  sort_order: withDefault(oneOf(['CREATED_AT', 'UPDATED_AT', 'CREATED_AT_DESC', 'UPDATED_AT_DESC']), 'CREATED_AT_DESC'),
}
const batch = { ...includeSkills, ids: list(required(uuid())) }
const batchLimit = 99

export async function createConversation(
  { service, creation, keys }: ConversationParts, call: Call,
): Promise<HttpResponse> {
  const { hasTag } = service
  const asked = bodyOf(call, StartConversationRequest)
  const body = { ...asked, tags: withOwnTag(call.principal, asked.tags) }
  const isVisible = filterFor(call.principal, hasTag)
  const parent = body.parent_conversation_id
  if (parent !== undefined && isVisible?.(dashed(parent)) === false) throw hidden(parent)
  const includeAll = queryOf(call, includeSkills).include_skills
  const keyed = keyedRequestOf(call, 'create', keys)
  const madeBy = makerOf(call.principal)
  const chosen = chooseId(body.conversation_id, 'conversation_id', creation.shard)
  const wanted = { ...body, conversation_id: chosen }
  const tell = (member: string): void => tellIgnored(call, [member])
  const settle = (): Promise<Created> => settleRequest(wanted, creation, tell, madeBy)
  const { initial_message: message } = body
  const make = async (): Promise<Made> => {
    const made = await service.creations.once({ keyed, id: chosen, settle })
    if (isVisible?.(made.id) === false) throw new AppError('conflict', 'The conversation id is taken')
    tellMasking(call, body.secrets)
    if (!made.isNew || message === undefined) return made
    await (await service.open(made.id)).send(userMessageOf(message), true, keyed)
    return made
  }
  // `admission` checks the limits for the first run before the conversation is made. If it refuses the run, no
  // conversation is made. It does not check a repeated request, because the conversation exists already.
  const { admission } = creation
  const isAsked = message !== undefined && !service.has(chosen) && !service.creations.knows(keyed)
  const { id, isNew } = await (isAsked && admission !== undefined ? admission.start(chosen, madeBy, make) : make())
  if (!isNew || keyed === undefined) return infoOf(service, call, id, isNew ? 201 : 200)
  return jsonResponse(201, await service.firstInfo({ id, request: keyed }, includeAll, message !== undefined))
}

export async function searchConversations({ service }: ConversationParts, call: Call): Promise<HttpResponse> {
  const query = queryOf(call, search)
  const { ids, nextPageId } = service.page({
    status: query.status,
    sortOrder: query.sort_order,
    limit: query.limit,
    pageId: query.page_id === undefined ? undefined : dashed(query.page_id),
    where: filterFor(call.principal, service.hasTag),
  })
  const items = await Promise.all(ids.map((id) => infoOrNull(service, id, query.include_skills)))
  // In the response, the id of a page has no dashes.
  return ok({ items: items.filter((item) => item !== null), next_page_id: nextPageId?.replaceAll('-', '') ?? null })
}

export function countConversations({ service }: ConversationParts, call: Call): HttpResponse {
  return ok(service.count(queryOf(call, statusFilter).status, filterFor(call.principal, service.hasTag)))
}

export async function getConversations({ service }: ConversationParts, call: Call): Promise<HttpResponse> {
  const { ids, include_skills } = queryOf(call, batch)
  if (ids.length === 0) throw invalid([{ type: 'missing', loc: ['query', 'ids'], msg: 'Field required', input: null }])
  if (ids.length > batchLimit) throw tooLong(['query', 'ids'], ids.length, batchLimit)
  const isVisible = filterFor(call.principal, service.hasTag)
  return ok(await Promise.all(ids.map((id) => {
    return isVisible?.(id) === false ? null : infoOrNull(service, id, include_skills)
  })))
}

export function getConversation({ service }: ConversationParts, call: Call): Promise<HttpResponse> {
  return infoOf(service, call, conversationIdOf(call))
}

export async function updateConversation({ service }: ConversationParts, call: Call): Promise<HttpResponse> {
  const { title, tags, max_budget_per_task: budget, workspace } = bodyOf(call, UpdateConversationRequest)
  const allTags = tags === undefined ? undefined : withOwnTag(call.principal, tags)
  const conversation = await service.open(conversationIdOf(call))
  if (workspace !== undefined && workspace.working_dir !== conversation.state.working_dir) {
    throw cannotMove(workspace.working_dir)
  }
  await conversation.patch({ title: title === undefined ? undefined : trimmed(title), tags: allTags, budget })
  return success
}

export async function deleteConversation({ service }: ConversationParts, call: Call): Promise<HttpResponse> {
  const kept = await service.remove(conversationIdOf(call))
  if (kept !== undefined) exposeHeader(call, 'X-Kept-Worktree', encodeURI(kept))
  return success
}

export async function forkConversation({ service, creation }: ConversationParts, call: Call): Promise<HttpResponse> {
  const request = optionalBodyOf(call, ForkConversationRequest)
  const title = request.title ?? null
  const fork = await service.fork(conversationIdOf(call), {
    id: chooseId(request.id, 'id', creation.shard),
    title,
    tags: withOwnTag(call.principal, { ...request.tags, ...(title === null ? {} : { title }) }),
    resetMetrics: request.reset_metrics,
    fromEventId: request.from_event_id ?? null,
    madeBy: makerOf(call.principal),
  })
  return infoOf(service, call, fork.id, 201)
}

export async function navigateConversation({ service }: ConversationParts, call: Call): Promise<HttpResponse> {
  const { event_id: eventId } = bodyOf(call, NavigateRequest)
  const conversation = await service.open(conversationIdOf(call))
  await conversation.navigate(eventId ?? null)
  return infoOf(service, call, conversation.id)
}

async function infoOf(service: ConversationService, call: Call, id: string, status = 200): Promise<HttpResponse> {
  return jsonResponse(status, await service.info(id, queryOf(call, includeSkills).include_skills))
}

/** Returns the error for a change of the workspace folder, which is refused: the history names files in it. */
function cannotMove(input: string): AppError {
  const msg = 'A conversation keeps its workspace: start a new conversation in the other folder'
  return invalid([{ type: 'value_error', loc: ['body', 'workspace', 'working_dir'], msg, input }])
}

/** Returns a conversation's info; null when no conversation has this id. */
async function infoOrNull(service: ConversationService, id: string, includeAll: boolean): Promise<object | null> {
  return (await service.info(id, includeAll).catch(undefinedIfMissing)) ?? null
}

function trimmed(title: string): string {
  const text = title.trim()
  if (text !== '') return text
  const msg = 'String should have at least 1 character'
  throw invalid([
    { type: 'string_too_short', loc: ['body', 'title'], msg, input: title, ctx: { min_length: 1 } },
  ])
}
