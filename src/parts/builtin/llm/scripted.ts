/**
 * The model `demo/scripted`: a fixed script with real tools and without network, for a first look at the server and for
 * tests.
 *
 * The script answers a greeting. For any other message it shows a short piece of work.
 */
import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../../../base/json.ts'
import { toMessage, type Message } from '../../../schema/generated/values.ts'
import type { ModelAnswer, ModelClient, ModelRequest } from './model.ts'

export const scriptedModelName = 'demo/scripted'

const notice = 'I am the demonstration model of this server: a fixed script, not a language model.'

export function createScriptedModel(): ModelClient {
  return {
    model: scriptedModelName,
    takesImages: false,
    contextWindow: undefined,
    async complete(request) {
      request.signal.throwIfAborted()
      return nextStep(request)
    },
  }
}

/** One tool call of the script. */
interface ScriptedCall {
  readonly tool: string
  readonly args: JsonObject
}

function nextStep(request: ModelRequest): ModelAnswer {
  const messages = request.messages.map((entry) => entry.message)
  const asked = messages.findLastIndex(({ role }) => role === 'user')
  const path = `${workingDirOf(messages)}/${noteName(messages)}`
  const steps = script(path).filter(({ tool }) => request.tools.some(({ name }) => name === tool))
  const call = steps[messages.slice(asked + 1).filter(({ role }) => role === 'assistant').length]
  if (isGreeting(messages[asked]) || call === undefined) {
    return speak(`${notice} Send me any task, and I show a short piece of work.`, request)
  }
  return callTool(call)
}

function script(path: string): readonly ScriptedCall[] {
  const plan = ['Look at the folder', 'Write a note', 'Read it back'].map((title) => ({
    title,
    notes: '',
    status: 'todo',
  }))
  return [
    {
      tool: 'think',
      args: {
        summary: 'Think about what to show',
        thought: `${notice} I will look at the folder, write a note and read it back.`,
      },
    },
    { tool: 'task_tracker', args: { summary: 'Make a plan', command: 'plan', task_list: plan } },
    { tool: 'terminal', args: { command: 'ls', security_risk: 'LOW', summary: 'List the working directory' } },
    {
      tool: 'file_editor',
      args: {
        command: 'create',
        path,
        file_text: `# A note\n\n${notice}\n`,
        security_risk: 'LOW',
        summary: 'Write a note',
      },
    },
    { tool: 'file_editor', args: { command: 'view', path, security_risk: 'LOW', summary: 'Read it back' } },
    {
      tool: 'finish',
      args: { message: `${notice} I planned, looked at the folder and wrote ${path}, as far as I had the tools.` },
    },
  ]
}

function isGreeting(message: Message | undefined): boolean {
  return message === undefined || /^\s*(hi|hello|hey|who are you)\b[\s!.?]*$/i.test(textOf(message))
}

/** Returns the name of the file to create: `demo-note.md`, for the second file `demo-note-2.md`, and so on. */
function noteName(messages: readonly Message[]): string {
  const asked = messages.findLastIndex(({ role }) => role === 'user')
  const notes = messages
    .slice(0, asked)
    .flatMap(({ tool_calls }) => tool_calls ?? [])
    .filter((call) => call.arguments.includes('"create"'))
  return notes.length === 0 ? 'demo-note.md' : `demo-note-${notes.length + 1}.md`
}

/** Returns the working directory that the system message names; else `.`. */
function workingDirOf(messages: readonly Message[]): string {
  const system = messages.find(({ role }) => role === 'system')
  return /^Working directory: (.*)$/m.exec(system === undefined ? '' : textOf(system))?.[1] ?? '.'
}

function textOf({ content }: Message): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
}

function speak(content: string, { onDelta }: ModelRequest): ModelAnswer {
  for (const piece of content.match(/\S+\s*/g) ?? []) onDelta?.({ content: piece })
  return { id: randomUUID(), message: toMessage({ role: 'assistant', content }), stop: 'end', usage: {} }
}

function callTool({ tool, args }: ScriptedCall): ModelAnswer {
  const call = {
    id: `call-${randomUUID()}`,
    name: tool,
    arguments: JSON.stringify(args),
    origin: 'completion',
  } as const
  return {
    id: randomUUID(),
    message: toMessage({ role: 'assistant', tool_calls: [call] }),
    stop: 'tool_calls',
    usage: {},
  }
}
