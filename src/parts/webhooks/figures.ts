/** The figures of all webhooks together, for the metrics. No figure names a webhook, a conversation or an address. */
import type { PartFigure } from '../../server-load.ts'

/** The figures of a webhook for operators. */
export interface WebhookLoad {
  /** The number of conversations with deliveries that are under way or still to be made. */
  readonly waitingConversations: number
  /** The number of conversations that wait because the webhook already serves `lanesAtOnce` (webhook.ts) others. */
  readonly waitingLanes: number
  /** The longest time for which one of these `waitingConversations` has had no request delivered or given up. */
  readonly longestWaitMs: number
  readonly delivered: number
  readonly failed: number
  readonly letters: number
  readonly droppedLetters: number
}

export function figuresOf(webhooks: readonly { readonly load: WebhookLoad }[]): readonly PartFigure[] {
  const loads = webhooks.map(({ load }) => load)
  const sum = (member: keyof WebhookLoad): number => loads.reduce((total, load) => total + load[member], 0)
  const longestWaitMs = Math.max(0, ...loads.map((load) => load.longestWaitMs))
  return [
    gauge('conversations_waiting', 'Conversations that are not fully delivered, for each webhook.',
      sum('waitingConversations')),
    gauge('turns_waiting', 'Conversations with undelivered events that wait until fewer deliveries are under way.',
      sum('waitingLanes')),
    gauge('longest_wait_seconds', 'Longest time since something of a waiting conversation was delivered or given up.',
      longestWaitMs / 1000),
    counter('delivered_total', 'Requests that a receiver has accepted.', sum('delivered')),
    counter('failed_total', 'Requests that were given up after all attempts.', sum('failed')),
    gauge('dead_letters', 'Dead letters that are stored.', sum('letters')),
    counter('dead_letters_dropped_total', 'Dead letters that were dropped to store newer ones.', sum('droppedLetters')),
  ]
}

function gauge(name: string, about: string, value: number): PartFigure {
  return { name: `webhook_${name}`, type: 'gauge', about, value }
}

function counter(name: string, about: string, value: number): PartFigure {
  return { name: `webhook_${name}`, type: 'counter', about, value }
}
