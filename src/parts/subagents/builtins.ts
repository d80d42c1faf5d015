/** The built-in definitions of sub-agents, under the names that published clients and prompts use. */
import type { Definition } from './definition.ts'

/** The name of the sub-agent that gets the task when the model names no `subagent_type`. */
export const usualName = 'general-purpose'

const readers = ['read_file', 'list_directory', 'glob', 'grep']

export const builtins: readonly Definition[] = [
  builtin({
    name: usualName,
    description: 'Solves a task of several steps on its own: reads, changes and runs code.',
    tools: undefined,
    prompt: 'Solve the task to the end. Report what you changed and where, and how you checked it.',
  }),
  builtin({
    name: 'code-explorer',
    description: 'Finds out how code works and changes nothing: answers with files, lines and short quotations.',
    tools: ['terminal', ...readers],
    prompt: `Explore and report. Create, change and delete no file, and run no command that changes the system. Begin \
broadly, then narrow down. Answer in a structured way, with paths and line numbers.`,
  }),
  builtin({
    name: 'bash-runner',
    description: 'Runs commands (tests, builds, linters, git) and reports only the parts of the output that matter.',
    tools: ['terminal'],
    prompt: `Run exactly the commands that the task asks for. The other agent does not see their output: report \
whether they passed, the counts, and for each failure its name, its reason and its place. Report no raw output.`,
  }),
  builtin({
    name: 'web-researcher',
    description: 'Researches a question on the web with a browser: answers with a summary and the addresses.',
    tools: ['browser_tool_set'],
    prompt: 'Research the question on the web. Name the address of each source, and say what you could not confirm.',
  }),
]

function builtin(
  { name, description, tools, prompt }: Pick<Definition, 'name' | 'description' | 'tools' | 'prompt'>,
): Definition {
  return {
    name, description, tools, prompt,
    color: undefined,
    skills: [],
    examples: [],
    permissionMode: undefined,
    maxIterations: undefined,
    maxBudget: undefined,
  }
}
