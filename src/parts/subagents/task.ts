/** Reads the arguments of the tool `task`: `prompt`, `description`, `subagent_type` and `resume`. */
import { usualName } from './builtins.ts'
import type { Definition } from './definition.ts'

export interface Task {
  readonly prompt: string
  readonly description: string | undefined
  /** The name of the sub-agent for a new task. */
  readonly subagent: string
  /** The id of an earlier task, which gets the prompt as its next message. */
  readonly resume: string | undefined
}

/** Returns the task, or a text that says why the arguments are wrong. */
export function readTask(args: Readonly<Record<string, unknown>>, definitions: readonly Definition[]): Task | string {
  const { prompt, description, subagent_type: subagent = usualName, resume } = args
  if (typeof prompt !== 'string' || prompt.trim() === '') return 'prompt: expected a text'
  if (description !== undefined && typeof description !== 'string') return 'description: expected a text'
  const names = definitions.map(({ name }) => name)
  if (typeof subagent !== 'string' || !names.includes(subagent)) {
    return `subagent_type: expected one of ${names.join(', ')}`
  }
  if (resume !== undefined && (typeof resume !== 'string' || !/^[0-9a-f-]{36}$/.test(resume))) {
    return 'resume: expected the id of a task'
  }
  return { prompt, description, subagent, resume }
}
