/** Starts the part `webhooks`: opens the file of each webhook, and informs each webhook of changes in conversations. */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { isLoopbackName } from '../../http/origin.ts'
import { makeFolder, ownFolder } from '../../base/own-files.ts'
import { addressSecrets } from '../../base/secret-address.ts'
import { sleep } from '../../base/wait.ts'
import { openRequest } from '../net/outbound.ts'
import { valuesOf } from '../../option.ts'
import type { Lent, PartHandler, Started } from '../../part.ts'
import { isSecretMember, maskedParts } from '../../settings/masked-parts.ts'
import { Delivery } from './delivery.ts'
import { figuresOf } from './figures.ts'
import { Journal } from './journal.ts'
import { options, type webhooks } from './part.ts'
import { RemainsFolder } from './remains.ts'
import * as routes from './routes.ts'
import { readWebhook, type WebhookSettings } from './settings.ts'
import { shortDigest } from './signature.ts'
import { Webhook } from './webhook.ts'

export async function start(core: Needs): Promise<Started<typeof webhooks>> {
  const { config, masker, conversations } = core
  const configured = valuesOf(options, config).webhooks.flatMap((item) => readWebhook(item) ?? [])
  const forget = masker.register(configured.flatMap(secretsOf))
  const started: Webhook[] = []
  const close = async (): Promise<void> => {
    for (const webhook of started) await webhook.close()
    forget()
  }
  try {
    for (const settings of configured) started.push(await openWebhook(settings, core))
  } catch (thrown) {
    await close()
    throw thrown
  }
  const unfollow = started.map((webhook) => conversations.follow(webhook))
  return {
    handlers: handlersOf(started),
    figures: () => figuresOf(started),
    async close() {
      for (const end of unfollow) end()
      await close()
    },
  }
}

type Needs = Lent<typeof webhooks>

async function openWebhook(settings: WebhookSettings, core: Needs): Promise<Webhook> {
  const { sessionApiKeys, conversations, dataDir, clock, log } = core
  const [sessionKey] = sessionApiKeys
  if (settings.sendsSessionKey && sessionKey !== undefined) warnOfPlainText(settings, core)
  const folder = join(dataDir, 'webhooks')
  await makeFolder(folder, ownFolder)
  const key = shortDigest(settings.baseUrl.href)
  return new Webhook({
    key, settings, conversations, clock, log,
    journal: await Journal.open(join(folder, `${key}.jsonl`), Math.floor(clock() * 1000)),
    remains: new RemainsFolder(folder, key),
    delivery: new Delivery({ settings, sessionKey, clock, random: Math.random, open: openRequest, sleep }),
    createId: randomUUID,
  })
}

function warnOfPlainText({ baseUrl }: WebhookSettings, { log }: Needs): void {
  if (baseUrl.protocol === 'https:' || isLoopbackName(baseUrl.hostname)) return
  log.warn('A webhook gets the session key over a connection that is not encrypted', { origin: baseUrl.origin })
}

/** Returns the texts to mask: the signing secret, and the secrets in the headers and in the address. */
function secretsOf({ secret, headers, baseUrl }: WebhookSettings): string[] {
  const credentials = Object.entries(headers).flatMap(([name, value]) => {
    if (isSecretMember(name)) return [value, ...value.split(' ').slice(1)]
    return maskedParts(value).filter((part) => part !== value)
  })
  return [...(secret === undefined ? [] : [secret]), ...credentials, ...addressSecrets(baseUrl.href)]
}

function handlersOf(started: readonly Webhook[]): Record<keyof typeof webhooks.routes, PartHandler> {
  return {
    'GET /api/webhooks': () => routes.listWebhooks(started),
    'GET /api/webhooks/dead_letters': (call) => routes.listLetters(started, call),
    'POST /api/webhooks/dead_letters/{letter_id}/redeliver': (call) => routes.redeliverLetter(started, call),
    'DELETE /api/webhooks/dead_letters/{letter_id}': (call) => routes.removeLetter(started, call),
  }
}
