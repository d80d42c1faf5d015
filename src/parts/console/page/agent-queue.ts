/**
 * The conversations that wait to start an agent program, with their places in the queue. While the stream of
 * `/api/console/changes` is interrupted, no place is known.
 */
import { numberAt } from './values.ts'

export class AgentQueue {
  readonly #followers = new Set<() => void>()
  #told: unknown

  /** Takes a message of the type `queue` from the stream of changes; undefined when the stream has ended. */
  take(message: unknown): void {
    this.#told = message
    for (const follower of this.#followers) follower()
  }

  /** Returns the place of a conversation, such as `2nd of 5`; undefined when no place is known. */
  placeOf(id: string): string | undefined {
    const place = numberAt(this.#told, 'places', id)
    const length = numberAt(this.#told, 'length')
    return place === undefined || length === undefined ? undefined : `${ordinal(place)} of ${length}`
  }

  /** Calls `follower` after each change. Returns a function that ends the calls. */
  follow(follower: () => void): () => void {
    this.#followers.add(follower)
    return () => void this.#followers.delete(follower)
  }
}

const endings = new Map([['one', 'st'], ['two', 'nd'], ['few', 'rd']])
const rules = new Intl.PluralRules('en', { type: 'ordinal' })

function ordinal(place: number): string {
  return `${place}${endings.get(rules.select(place)) ?? 'th'}`
}
