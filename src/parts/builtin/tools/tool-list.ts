/** The names of the tools that settings can name on every machine, besides `finish` and `think`. */

/** The names of the tools that work on files, without a process. */
export const fileToolNames = [
  'file_editor', 'planning_file_editor', 'read_file', 'write_file', 'edit', 'list_directory', 'glob', 'grep',
  'task_tracker',
] as const

export const toolNames: readonly string[] = ['terminal', ...fileToolNames]
