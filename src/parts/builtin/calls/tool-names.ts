/**
 * Finds the tool that a model means by an unknown name (contract/tests.md, "Model input and tool-call repair").
 *
 * Markup after the name is cut off. Names that models know from other agents (`bash`), and names of programs (`ls`),
 * become calls of this agent's tools.
 */
import type { JsonObject } from '../../../base/json.ts'

export interface NamedCall {
  readonly name: string
  readonly args: JsonObject
}

/** Returns the call as a call of one of `tools`, with its arguments adapted; undefined when no tool matches. */
export function repairName(call: NamedCall, tools: ReadonlySet<string>): NamedCall | undefined {
  if (tools.has(call.name)) return call
  const name = withoutMarkup(call.name)
  if (tools.has(name)) return { name, args: call.args }
  if (editorNames.has(name)) return tools.has('file_editor') ? editorCall(call.args) : undefined
  return tools.has('terminal') ? terminalCall(name, call.args) : undefined
}

/** Replaces all but ASCII letters, digits and `-` by `_`. Keeps 64 characters. Returns `unknown` for an empty name. */
export function soundName(name: string): string {
  return name.replaceAll(/[^\w-]/g, '_').slice(0, 64) || 'unknown'
}

const editorNames: ReadonlySet<string> = new Set(['str_replace', 'str_replace_editor'])
const terminalNames: ReadonlySet<string> = new Set(['bash', 'command', 'execute', 'execute_bash', 'git', 'reset'])
/** Programs whose names models use like names of tools. The terminal runs them. */
const programs: ReadonlySet<string> = new Set(['ls', 'pwd', 'find', 'git'])

function withoutMarkup(name: string): string {
  const end = name.search(/[<>"\s]/)
  return (end === -1 ? name : name.slice(0, end)).trim()
}

function editorCall(args: JsonObject): NamedCall {
  if (Object.hasOwn(args, 'command')) return { name: 'file_editor', args }
  return { name: 'file_editor', args: { command: editorCommand(args), ...args } }
}

function editorCommand(args: JsonObject): string {
  if (Object.hasOwn(args, 'old_str')) return 'str_replace'
  if (Object.hasOwn(args, 'insert_line')) return 'insert'
  return Object.hasOwn(args, 'file_text') ? 'create' : 'view'
}

function terminalCall(name: string, args: JsonObject): NamedCall | undefined {
  const isKnown = terminalNames.has(name) || programs.has(name)
  if (!isKnown) return undefined
  if (Object.hasOwn(args, 'command')) return { name: 'terminal', args }
  if (programs.has(name)) return { name: 'terminal', args: { ...args, command: name } }
  return { name: 'terminal', args: name === 'reset' ? { ...args, command: '', reset: true } : args }
}
