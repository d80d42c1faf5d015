/** Starts the part `openai`. */
import { randomUUID } from 'node:crypto'
import type { Core } from '../../capabilities.ts'
import { valuesOf } from '../../option.ts'
import type { PartHandler, StartedPart } from '../../part.ts'
import { completeChat, getModel, getModels, type OpenaiParts } from './routes.ts'
import { options, type openai } from './part.ts'

export function start({ config, clock, settings, llmProfiles, drivenConversations, admission }: Needs): StartedPart {
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

type Needs = Pick<Core, 'config' | 'clock' | 'settings' | 'llmProfiles' | 'drivenConversations' | 'admission'>
