/** The part `openai`: conversations for clients of OpenAI's Chat Completions API. */
import { milliseconds } from '../../option.ts'
import type { Part, PartModule } from '../../part.ts'
import { errorForm } from './errors.ts'

const twoMinutesMs = 120_000

export const options = {
  completionTimeoutMs: milliseconds(twoMinutesMs, 'Agents', 'Time for a chat completion that is not streamed'),
}

export const openai = {
  name: 'openai',
  about: "Conversations for clients of OpenAI's Chat Completions API",
  options,
  routes: {
    'GET /v1/models': 'read',
    'GET /v1/models/{model_id}': 'read',
    'POST /v1/chat/completions': 'drive',
  },
  errorForm,
  spec: () => import('./spec.ts'),
  needs: ['config', 'clock', 'settings', 'llmProfiles', 'drivenConversations', 'admission'],
  load: (): Promise<PartModule> => import('./start.ts'),
} as const satisfies Part
