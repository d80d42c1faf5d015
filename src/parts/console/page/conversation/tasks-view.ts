/**
 * The agent's newest task list, above the composer. The list is hidden when it is empty, or when the agent has stopped
 * and every task is done.
 */
import { element, fill } from '../dom.ts'
import { newestTasks, progressOf } from './call-pieces.ts'
import type { Task } from './piece.ts'
import { soft } from './controls.ts'
import { isWorking } from './conversation-state.ts'
import type { HistoryChange, LiveHistory } from './live-history.ts'
import { tasksView } from './piece-view.ts'
import { textNodes } from './text-nodes.ts'
import type { Item } from './timeline.ts'

export class TasksView {
  readonly root = element('details', { class: 'tasks-dock', hidden: true })
  #tasks: readonly Task[] = []

  show({ timeline, state }: LiveHistory, { touched }: HistoryChange): void {
    if (touched === undefined || touched.some(({ type }) => type === 'calls')) this.#read(timeline.items)
    const tasks = this.#tasks
    this.root.hidden = tasks.length === 0 || !isWorking(state) && tasks.every(({ status }) => status === 'done')
  }

  #read(items: readonly Item[]): void {
    const tasks = newestTasks(items.flatMap((item) => (item.type === 'calls' ? item.calls : []))) ?? []
    if (JSON.stringify(tasks) === JSON.stringify(this.#tasks)) return
    this.#tasks = tasks
    fill(this.root, element('summary', {}, 'Tasks ', soft(progressOf(tasks), currentOf(tasks))), tasksView(tasks))
  }
}

function currentOf(tasks: readonly Task[]): ReturnType<typeof textNodes> {
  const current = tasks.find(({ status }) => status === 'in_progress')
  return current === undefined ? [] : [': ', textNodes(current.title)]
}
