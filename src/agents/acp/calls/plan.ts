/**
 * Makes a task list from an agent's plan, or from the input of a task tool (decisions 3). Pure.
 *
 * ACP sends the whole plan every time. The priority of an entry is left out, because a TaskItem has none.
 */
import { objectOf, objectsOf, textOf } from '../../../base/fields.ts'
import type { TaskItemInput } from '../../../schema/generated/actions.ts'

const entryLimit = 1000
const entryLimitChars = 10_000

export function limitedEntries(entries: unknown): readonly unknown[] {
  if (!Array.isArray(entries)) return []
  return entries.slice(0, entryLimit).map((entry: unknown) => {
    const text = textOf(objectOf(entry)['content'])
    if (text === undefined || text.length <= entryLimitChars) return entry
    return { ...objectOf(entry), content: `${text.slice(0, entryLimitChars)} ...` }
  })
}

export function tasksOf(entries: unknown): readonly TaskItemInput[] {
  return objectsOf(entries).map((entry) => {
    return { title: textOf(entry['content']) ?? textOf(entry['title']) ?? '', status: statusOf(entry['status']) }
  })
}

/** Returns a summary such as `3 tasks: 1 done, 1 in progress, 1 to do`. */
export function planSummary(tasks: readonly TaskItemInput[]): string {
  const count = (status: TaskItemInput['status']): number => tasks.filter((task) => task.status === status).length
  const total = `${tasks.length} ${tasks.length === 1 ? 'task' : 'tasks'}`
  return `${total}: ${count('done')} done, ${count('in_progress')} in progress, ${count('todo')} to do`
}

function statusOf(status: unknown): 'todo' | 'in_progress' | 'done' {
  if (status === 'completed' || status === 'done') return 'done'
  return status === 'in_progress' ? 'in_progress' : 'todo'
}
