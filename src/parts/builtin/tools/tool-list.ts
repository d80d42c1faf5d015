/** The names of this part's tools, except the default tools `finish` and `think`. */

/** The names of the tools that start no process. `task_tracker` keeps a list; the others work on files. */
export const fileToolNames = [
  'file_editor', 'planning_file_editor', 'read_file', 'write_file', 'edit', 'list_directory', 'glob', 'grep',
  'task_tracker',
] as const

export const toolNames: readonly string[] = ['terminal', ...fileToolNames]
