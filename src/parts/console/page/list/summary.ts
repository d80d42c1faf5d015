/** The summary of a conversation in the list. */
import { objectAt, textAt } from '../values.ts'

export interface Summary {
  readonly id: string
  readonly title: string
  readonly status: string
  readonly updated: string
  readonly tags: Readonly<Record<string, unknown>>
  /** For a copy, the id of the original conversation. For a sub-agent, the id of its parent. Otherwise empty. */
  readonly origin: string
  readonly kind: 'own' | 'copy' | 'sub-agent'
}

export function summaryOf(value: unknown): Summary {
  const parent = textAt(value, 'parent_conversation_id')
  const source = textAt(value, 'forked_from_conversation_id')
  return {
    origin: parent || source,
    kind: parent !== '' ? 'sub-agent' : source !== '' ? 'copy' : 'own',
    id: textAt(value, 'id'),
    title: textAt(value, 'title'),
    status: textAt(value, 'execution_status'),
    updated: textAt(value, 'updated_at'),
    tags: objectAt(value, 'tags'),
  }
}

const words: Readonly<Record<string, string>> = {
  idle: 'Idle', running: 'Running', paused: 'Paused', waiting_for_confirmation: 'Waits for your answer',
  finished: 'Finished', error: 'Error', stuck: 'Stuck', deleting: 'Being deleted',
}

export function statusWord(status: string): string {
  return words[status] ?? status
}

/** Returns the heading, such as `Yesterday`, for a time in ISO 8601. Days begin at the local midnight. */
export function ageOf(updated: string, now: Date): string {
  // The number of days is rounded: a day with a change of clocks has 23 or 25 hours.
  const days = Math.round((midnightOf(now) - midnightOf(new Date(updated))) / 86_400_000)
  if (days === 1) return 'Yesterday'
  if (days > 1) return days < 7 ? 'Last 7 days' : 'Earlier'
  return 'Today'
}

function midnightOf(moment: Date): number {
  return new Date(moment.getFullYear(), moment.getMonth(), moment.getDate()).getTime()
}

/** Tells whether each word of a search is in the title, the tags or the id, ignoring case. */
export function matches({ id, title, tags }: Summary, search: string): boolean {
  const tagged = Object.entries(tags).map(([name, value]) => `${name}:${String(value)}`).join(' ')
  const text = `${title} ${tagged} ${id}`.toLowerCase()
  return search.toLowerCase().split(/\s+/).every((word) => text.includes(word))
}

/** Returns the tags of a text such as `project:website urgent`. A word without a colon gets an empty value. */
export function tagsOf(text: string): Readonly<Record<string, string>> {
  const pairs = text.split(/[\s,]+/).filter((word) => word !== '').map((word) => {
    const mark = word.indexOf(':')
    return mark === -1 ? [word, ''] as const : [word.slice(0, mark), word.slice(mark + 1)] as const
  })
  return Object.fromEntries(pairs)
}

export function tagText(tags: Summary['tags']): string {
  return Object.entries(tags).map(([name, value]) => (value === '' ? name : `${name}:${String(value)}`)).join(' ')
}
