/** The names of the tools that the built-in agent has on every machine: the list that clients see. */

/** Tools that work on files, without a program of their own. */
export const fileToolNames = [
  'file_editor', 'planning_file_editor', 'read_file', 'write_file', 'edit', 'list_directory', 'glob', 'grep', 'task_tracker',
] as const

export const toolNames: readonly string[] = ['terminal', ...fileToolNames]
