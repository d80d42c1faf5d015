/** REST handlers for webhooks and their dead letters (records of deliveries that were given up). */
import { ok, queryOf, success, type Call } from '../../api/call.ts'
import { AppError } from '../../base/errors.ts'
import { integer, text, withDefault } from '../../http/query.ts'
import type { HttpResponse } from '../../http/reply.ts'
import { parameterOf } from '../../http/router.ts'
import type { DeadLetter } from './dead-letters.ts'
import type { Webhook } from './webhook.ts'

const page = {
  webhook_id: text({ maxLength: 64 }),
  page_id: text({ maxLength: 64 }),
  limit: withDefault(integer({ min: 1, max: 100 }), 100),
}

export function listWebhooks(webhooks: readonly Webhook[]): HttpResponse {
  return ok({ webhooks: webhooks.map(({ view }) => view) })
}

/** Returns a page of dead letters in the order of the webhooks. The letters of one webhook are oldest first. */
export function listLetters(webhooks: readonly Webhook[], call: Call): HttpResponse {
  const { webhook_id, page_id, limit } = queryOf(call, page)
  const letters = webhooks.flatMap((webhook) => {
    const isWanted = webhook_id === undefined || webhook_id === webhook.key
    return isWanted ? webhook.letters.map((letter) => ({ ...letter, webhook_id: webhook.key })) : []
  })
  const first = Math.max(0, letters.findIndex(({ id }) => id === page_id))
  return ok({ items: letters.slice(first, first + limit), next_page_id: letters[first + limit]?.id ?? null })
}

export async function redeliverLetter(webhooks: readonly Webhook[], call: Call): Promise<HttpResponse> {
  const { webhook, letter } = find(webhooks, call)
  await webhook.redeliver(letter)
  return success
}

export async function removeLetter(webhooks: readonly Webhook[], call: Call): Promise<HttpResponse> {
  const { webhook, letter } = find(webhooks, call)
  await webhook.removeLetter(letter)
  return success
}

interface Found {
  readonly webhook: Webhook
  readonly letter: DeadLetter
}

function find(webhooks: readonly Webhook[], { parameters }: Call): Found {
  const id = parameterOf(parameters, 'letter_id')
  for (const webhook of webhooks) {
    const letter = webhook.letter(id)
    if (letter !== undefined) return { webhook, letter }
  }
  throw new AppError('not_found', 'There is no such dead letter')
}
