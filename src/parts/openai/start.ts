/** Starts the part `openai`. */
import { randomUUID } from 'node:crypto'
import { valuesOf } from '../../option.ts'
import type { Lent, PartHandler, Started } from '../../part.ts'
import { completeChat, getModel, getModels, type OpenaiParts } from './routes.ts'
import { options, type openai } from './part.ts'

export function start(core: Lent<typeof openai>): Started<typeof openai> {
  const { config, clock, settings, llmProfiles, drivenConversations, admission } = core
  const parts: OpenaiParts = {
    settings, llmProfiles, drivenConversations, admission, clock,
    busy: new Set(),
    timeoutMs: valuesOf(options, config).completionTimeoutMs,
    stallTimeoutMs: config.readerStallMs,
    createId: () => `chatcmpl-${randomUUID().replaceAll('-', '')}`,
  }
  const handlers: Record<keyof typeof openai.routes, PartHandler> = {
    'GET /v1/models': () => getModels(parts),
    'GET /v1/models/{model_id}': (call) => getModel(parts, call),
    'POST /v1/chat/completions': (call) => completeChat(parts, call),
  }
  return { handlers }
}
