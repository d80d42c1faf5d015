/** The part `webhooks`: events and changes of conversations, posted to addresses of the operator's choice. */
import type { Option } from '../../option.ts'
import type { Part, PartModule } from '../../part.ts'
import { areWebhooks, readWord, type WebhookItem } from './settings.ts'
import { readVariables } from './variables.ts'

const webhookOption: Option<readonly WebhookItem[]> = {
  group: 'Network',
  help: 'Address that gets events and changes of conversations, or a JSON object with more settings',
  kind: 'list',
  flag: 'webhook',
  placeholder: 'URL|JSON',
  initial: [],
  isSecret: true,
  expected: 'an address such as https://example.org/hooks, or an object with "base_url" as in the README of webhooks',
  accepts: areWebhooks,
  read: readWord,
  readOthers: readVariables,
}

export const options = { webhooks: webhookOption }

export const webhooks = {
  name: 'webhooks',
  about: "Events and changes of conversations, posted to addresses of the operator's choice",
  options,
  routes: {
    'GET /api/webhooks': 'read',
    'GET /api/webhooks/dead_letters': 'read',
    'POST /api/webhooks/dead_letters/{letter_id}/redeliver': 'configure',
    'DELETE /api/webhooks/dead_letters/{letter_id}': 'configure',
  },
  startsWhen: (values) => Array.isArray(values['webhooks']) && values['webhooks'].length > 0,
  spec: () => import('./spec.ts'),
  needs: ['config', 'sessionApiKeys', 'masker', 'conversations', 'dataDir', 'clock', 'log'],
  load: (): Promise<PartModule> => import('./start.ts'),
} as const satisfies Part
