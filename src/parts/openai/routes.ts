/** Handlers of OpenAI's API (contract/others.md, section 12). */
import { bodyOf, clientSignal, ok, type Call } from '../../api/call.ts'
import { jsonResponse } from '../../api/problem.ts'
import { AppError, messageOf } from '../../base/errors.ts'
import type { Clock } from '../../base/stamp.ts'
import type { Core } from '../../capabilities.ts'
import type { Conversation } from '../../conversation/conversation.ts'
import { dashed } from '../../conversation/list/ids.ts'
import type { DrivenConversations } from '../../conversation/list/driven.ts'
import { headerValues } from '../../http/headers.ts'
import { uuid } from '../../http/query.ts'
import { makerOf } from '../../http/principal.ts'
import type { HttpResponse } from '../../http/reply.ts'
import { parameterOf } from '../../http/router.ts'
import { toStartConversationRequest } from '../../schema/generated/conversations.ts'
import { ChatCompletionRequest } from './generated.ts'
import { errorForm } from './errors.ts'
import { findModel, listModels, settingsFor, type ModelSources } from './models.ts'
import { readCompletion, type Completion } from './request.ts'
import { assertFree, serve, type RunEnd } from './run.ts'
import { CompletionStream } from './stream.ts'
import { tokensOf, usageSince } from './usage.ts'

export interface OpenaiParts extends ModelSources {
  readonly drivenConversations: DrivenConversations
  readonly admission: Core['admission']
  readonly clock: Clock
  /** Ids of the conversations in which a request of this part is under way. */
  readonly busy: Set<string>
  /** The time limit in milliseconds of a run whose answer is not streamed. */
  readonly timeoutMs: number
  readonly stallTimeoutMs: number
  readonly createId: () => string
}

const conversationHeader = 'X-OpenHands-ServerConversation-ID'

export async function getModels(parts: OpenaiParts): Promise<HttpResponse> {
  return ok({ object: 'list', data: await listModels(parts) })
}

export async function getModel(parts: OpenaiParts, { parameters }: Call): Promise<HttpResponse> {
  return ok(await findModel(parameterOf(parameters, 'model_id'), parts))
}

export async function completeChat(parts: OpenaiParts, call: Call): Promise<HttpResponse> {
  // Without this header OpenAI's clients would repeat some failed requests, and a repetition can start another run.
  call.exchange.headers.push('X-Should-Retry', 'false')
  const request = readCompletion(bodyOf(call, ChatCompletionRequest))
  await findModel(request.model, parts)
  const { conversation, release } = await conversationFor(request, parts, call)
  call.exchange.headers.push(
    conversationHeader, conversation.id, 'Access-Control-Expose-Headers', conversationHeader,
  )
  const work = { request, conversation, release, parts, call, head: headOf(request, parts) }
  return request.isStreamed ? streamed(work) : whole(work)
}

interface Admitted {
  readonly conversation: Conversation
  /** Ends the reservation for a run that `AdmissionRules.starting` made, if there are rules. Idempotent. */
  readonly release: (() => void) | undefined
}

interface Work extends Admitted {
  readonly request: Completion
  readonly parts: OpenaiParts
  readonly call: Call
  /** Members of each answer, and of each chunk of a streamed answer. */
  readonly head: { readonly id: string; readonly created: number; readonly model: string }
}

function headOf({ model }: Completion, { createId, clock }: OpenaiParts): Work['head'] {
  return { id: createId(), created: Math.floor(clock() / 1000), model }
}

/**
 * Opens the conversation that `conversationHeader` names. Without the header, makes a new conversation.
 * @throws AppError `bad_request` for an unusable header, `conflict` for a conversation in use; the errors of `open`,
 * `settingsFor`, `create` and `AdmissionRules.starting`
 */
async function conversationFor(request: Completion, parts: OpenaiParts, call: Call): Promise<Admitted> {
  const named = headerValues(call.exchange.request.rawHeaders, conversationHeader.toLowerCase())
  if (named.length > 0) {
    const reading = uuid().read([...named])
    if (!reading.ok) throw new AppError('bad_request', `${conversationHeader}: expected one id of a conversation`)
    const conversation = await parts.drivenConversations.open(dashed(String(reading.value)))
    assertFree(conversation)
    if (parts.busy.has(conversation.id)) throw new AppError('conflict', 'The conversation serves another request')
    const release = parts.admission.rules?.starting(conversation.id, conversation.state.made_by)
    // No `await` may stand between the check of `busy` and this line: of two concurrent requests only one may pass.
    parts.busy.add(conversation.id)
    return { conversation, release }
  }
  const agent_settings = await settingsFor(request.model, request.system, parts)
  const [wanted, madeBy] = [toStartConversationRequest({ agent_settings }), makerOf(call.principal)]
  let release = (): void => undefined
  const admit = (id: string): void => void (release = parts.admission.rules?.starting(id, madeBy) ?? release)
  try {
    return { conversation: await parts.drivenConversations.create(wanted, madeBy, admit), release }
  } catch (thrown) {
    release()
    throw thrown
  }
}

async function whole(work: Work): Promise<HttpResponse> {
  const { request, conversation, release, parts, call, head } = work
  const before = tokensOf(conversation.state.stats)
  const end = await occupied(work, () => {
    const run = (signal: AbortSignal): Promise<RunEnd> => serve(conversation, request.message, signal, release)
    return withTimeout(parts.timeoutMs, clientSignal(call), run)
  })
  if (end.kind === 'failed') {
    const { status, body } = errorForm(end.status, end.message)
    return jsonResponse(status, body)
  }
  const content = await conversation.events.finalResponse()
  const message = { role: 'assistant', content, refusal: null }
  const choices = [{ index: 0, message, finish_reason: 'stop', logprobs: null }]
  const usage = usageSince(before, conversation.state.stats)
  const { id, created, model } = head
  return ok({ id, object: 'chat.completion', created, model, choices, usage })
}

function streamed(work: Work): HttpResponse {
  const { parts, call, head } = work
  const signal = clientSignal(call)
  return {
    status: 200,
    type: 'text/event-stream',
    // Without this header nginx would buffer the response.
    headers: ['X-Accel-Buffering', 'no'],
    stream: (response) => {
      const stream = new CompletionStream(response, { ...head, stallTimeoutMs: parts.stallTimeoutMs })
      occupied(work, () => follow(work, stream, signal)).catch((thrown: unknown) => {
        stream.fail(500, thrown instanceof AppError ? messageOf(thrown) : 'Unexpected error')
      })
    },
  }
}

async function follow(
  { request, conversation, release }: Work, stream: CompletionStream, signal: AbortSignal,
): Promise<void> {
  const before = tokensOf(conversation.state.stats)
  const reader = conversation.join({ from: 'now', encode: (json) => json, sink: stream })
  try {
    const end = await serve(conversation, request.message, signal, release)
    const usage = request.includesUsage ? usageSince(before, conversation.state.stats) : undefined
    if (end.kind === 'failed') stream.fail(end.status, end.message)
    else stream.finish(await conversation.events.finalResponse(), usage)
  } finally {
    reader.close()
  }
}

async function occupied<T>(
  { parts: { busy }, conversation: { id }, release }: Work, work: () => Promise<T>,
): Promise<T> {
  busy.add(id)
  try {
    return await work()
  } finally {
    release?.()
    busy.delete(id)
  }
}

/** Runs `work` with a signal that aborts together with `signal`, or after `ms` with an AppError `agent_timeout`. */
async function withTimeout<T>(
  ms: number, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const time = new AbortController()
  const late = new AppError('agent_timeout', `The run did not end within ${ms / 1000} s, and was interrupted`)
  const timer = setTimeout(() => time.abort(late), ms)
  try {
    return await work(AbortSignal.any([signal, time.signal]))
  } finally {
    clearTimeout(timer)
  }
}
