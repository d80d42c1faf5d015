/** The names of the built-in agent's tools on every machine: the list that clients see. */

/** Tools that work on files within this process. */
export const fileToolNames = [
  'file_editor', 'planning_file_editor', 'read_file', 'write_file', 'edit', 'list_directory', 'glob', 'grep',
  'task_tracker',
] as const

export const toolNames: readonly string[] = ['terminal', ...fileToolNames]
