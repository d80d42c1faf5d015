/** The names of the tools of the part `builtin`, except the default tools `finish` and `think`. */

/** The tools that work on files, and `task_tracker`, which keeps a list of tasks. */
export const fileToolNames = [
  'file_editor', 'planning_file_editor', 'read_file', 'write_file', 'edit', 'list_directory', 'glob', 'grep',
  'task_tracker',
] as const

export const toolNames: readonly string[] = ['terminal', ...fileToolNames]
