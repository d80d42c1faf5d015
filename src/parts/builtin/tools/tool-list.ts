/** The names of the tools that the built-in agent has on every machine, besides `finish` and `think`. */

/** The names of the tools that need only files. */
export const fileToolNames = [
  'file_editor', 'planning_file_editor', 'read_file', 'write_file', 'edit', 'list_directory', 'glob', 'grep',
  'task_tracker',
] as const

export const toolNames: readonly string[] = ['terminal', ...fileToolNames]
