/** A conversation as the list shows it, and the words for its states. */
import { objectAt, textAt } from '../values.ts'

export interface Summary {
  readonly id: string
  readonly title: string
  readonly status: string
  readonly updated: string
  readonly tags: Readonly<Record<string, unknown>>
}

export function summaryOf(value: unknown): Summary {
  return {
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

/** True when all words of a search are in the title, the tags or the id. */
export function matches({ id, title, tags }: Summary, search: string): boolean {
  const tagged = Object.entries(tags).map(([name, value]) => `${name}:${String(value)}`).join(' ')
  const text = `${title} ${tagged} ${id}`.toLowerCase()
  return search.toLowerCase().split(/\s+/).every((word) => text.includes(word))
}

/** Reads `name:value name2:value2`; a word without a colon is a tag with an empty value. */
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
