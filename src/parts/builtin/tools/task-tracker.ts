/**
 * The tool `task_tracker`: a list of tasks that the model keeps and the user sees.
 *
 * The list is stored in a private file of the conversation, with secrets masked.
 */
import { dirname } from 'node:path'
import { readJsonFile, writeJsonFile } from '../../../base/json-file.ts'
import { isTaskItem, toTaskItem, type TaskItem } from '../../../schema/generated/actions.ts'
import { defineTool } from './definition.ts'
import { textContent, type Tool } from '../../../agents/tool.ts'
import { makeFolder, privateFolder } from '../../../base/own-files.ts'

export function createTaskTrackerTool(path: string, mask: (text: string) => string): Tool {
  return defineTool({
    kind: 'TaskTrackerTool',
    action: 'TaskTrackerAction',
    observation: 'TaskTrackerObservation',
    description: [
      'Keep a list of tasks, which the user sees too. Use it for work of several steps, not for a single one.',
      'plan replaces the whole list by task_list; view shows it. Before a task is begun set it to in_progress (one ' +
      'at a',
      'time), set it to done as soon as it is done and checked, and add tasks that turn up.',
    ].join('\n'),
    parameters: {
      command: 'view shows the list, plan replaces it. Default: view.',
      task_list: 'For plan: all tasks, in order.',
    },
    hints: { untitled: true, readOnly: false, destructive: false, idempotent: true },
    run: async ({ command, task_list }) => {
      const planned = task_list.map((task) => ({ ...task, title: mask(task.title), notes: mask(task.notes) }))
      if (command === 'plan') await save(path, planned)
      const tasks = command === 'plan' ? planned : await load(path)
      return {
        kind: 'TaskTrackerObservation',
        content: textContent(describe(tasks)),
        is_error: false,
        command,
        task_list: tasks,
      }
    },
    failed: ({ command }, content) => ({
      kind: 'TaskTrackerObservation',
      content,
      is_error: true,
      command,
      task_list: [],
    }),
  })
}

async function save(path: string, tasks: readonly TaskItem[]): Promise<void> {
  await makeFolder(dirname(path), privateFolder)
  await writeJsonFile(path, tasks)
}

async function load(path: string): Promise<TaskItem[]> {
  const tasks = await readJsonFile(path).catch(() => undefined) // An unreadable list counts as empty.
  return Array.isArray(tasks) ? tasks.filter(isTaskItem).map(toTaskItem) : []
}

function describe(tasks: readonly TaskItem[]): string {
  if (tasks.length === 0) return 'The task list is empty.'
  return tasks.map(({ title, notes, status }, index) => {
    return `${index + 1}. [${status}] ${title}${notes === '' ? '' : `\n   ${notes}`}`
  }).join('\n')
}
