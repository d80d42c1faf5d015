/**
 * Whole conversations with the built-in agent, whose model is a stand-in that streams at a real pace and does the same
 * for both servers. Compared are the stored events, the frames of the socket, and the conversation at its end.
 *
 * Events are compared kind by kind and in their order; state updates by their keys alone, since how often a server
 * tells of its state is its own matter. Ids of calls come from the stand-in and count on, so they become a word.
 */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isObject } from '../../src/base/json.ts'
import type { ModelStep, ModelToolCall } from '../../test/fixtures/model-step.ts'
import { memberAt } from '../real/member.ts'
import { callServer } from '../real/rest.ts'
import { Talk } from '../real/talk.ts'
import type { Stage } from './stage.ts'

type Input = ModelToolCall['input']

const pace = { tokensPerSecond: 400 }

export const modelOptions = { pace: () => pace, script: stepsFor }

/** A message is a prompt and, in a second line, the folder that stands for FOLDER in its steps. */
function stepsFor(message: string): readonly ModelStep[] {
  const [prompt = '', folder = ''] = message.split('\n')
  return (scripts[prompt] ?? []).map(({ toolCall, ...step }) => toolCall === undefined
    ? step
    : { ...step, toolCall: { ...toolCall, input: inFolder(toolCall.input, folder) } })
}

function inFolder(input: Input, folder: string): Input {
  return typeof input === 'string' ? input : Object.fromEntries(Object.entries(input)
    .map(([name, value]) => [name, typeof value === 'string' ? value.replaceAll('FOLDER', folder) : value]))
}

const call = (name: string, input: Readonly<Record<string, unknown>>): ModelStep => ({ toolCall: { name, input } })
const finish = call('finish', { message: 'All of it is done.' })

/** The steps of the model by the text of the message. After them it says `Done.` */
const scripts: Readonly<Record<string, readonly ModelStep[]>> = {
  'Say something.': [{ text: 'Here are some words of a model.' }],
  'Run a command.': [
    { text: 'I run it.', toolCall: { name: 'terminal', input: { command: 'echo hello; (exit 3)' } } }, finish,
  ],
  'Write a file.': [
    call('file_editor', { command: 'create', path: 'FOLDER/new.txt', file_text: 'one\ntwo\n' }),
    call('file_editor', { command: 'view', path: 'FOLDER/new.txt' }),
    call('file_editor', { command: 'str_replace', path: 'FOLDER/new.txt', old_str: 'two', new_str: 'three' }),
    call('file_editor', { command: 'view', path: 'FOLDER/nowhere.txt' }), finish,
  ],
  'Think and plan.': [
    call('think', { thought: 'A thought.' }),
    call('task_tracker', { command: 'plan', task_list: [{ title: 'First', notes: '', status: 'todo' }] }), finish,
  ],
  'Call wrongly.': [
    call('nobody', { a: 1 }), call('terminal', { command: 7 }), call('terminal', {}), finish,
  ],
  'Fail.': [{ failure: 401, text: 'Your key is not known' }],
  'Ask first.': [call('terminal', { command: 'echo asked' }), finish],
}

const tools = ['terminal', 'file_editor', 'task_tracker'].map((name) => ({ name, params: {} }))

/** Holds each conversation with the server of the stage; `modelUrl` is the stand-in's address without a path. */
export async function talks(stage: Stage, modelUrl: string): Promise<void> {
  const prompts = Object.keys(scripts)
  for (const prompt of prompts) {
    const working_dir = join(stage.subject.folder, 'work', prompt.replace(/\W+/g, '-'))
    await mkdir(working_dir, { recursive: true })
    const talk = await begin(stage, modelUrl, { prompt, working_dir })
    try {
      await talk.until('the first frame', () => true)
      await talk.send(`${prompt}\n${working_dir}`)
      if (prompt === 'Ask first.') await answerBoth(talk)
      await talk.untilEnd()
      await keep(stage, talk, prompt)
    } catch (error) {
      stage.note(`${prompt} reaches its end`, String(error))
    } finally {
      await talk.close()
    }
  }
}

/** Rejects the first action, runs on where the server does not do so itself, and approves the next action. */
async function answerBoth(talk: Talk): Promise<void> {
  await talk.until('a question', (frame) => memberAt(frame, 'value') === 'waiting_for_confirmation')
  await talk.answer(false)
  await talk.until('the end of the question', (frame) => {
    return memberAt(frame, 'key') === 'execution_status' && memberAt(frame, 'value') !== 'waiting_for_confirmation'
  })
  if (await talk.status() === 'idle') await talk.call('POST', '/run')
}

interface Subjects {
  readonly prompt: string
  readonly working_dir: string
}

async function begin({ subject }: Stage, modelUrl: string, { prompt, working_dir }: Subjects): Promise<Talk> {
  const llm = {
    model: 'openai/stand-in', api_key: 'a-key-of-a-model', base_url: `${modelUrl}/v1`, stream: true, num_retries: 0,
  }
  const policy = prompt === 'Ask first.' ? 'AlwaysConfirm' : 'NeverConfirm'
  const made = await callServer(subject, 'POST', '/api/conversations', {
    agent_settings: { agent_kind: 'openhands', llm, tools }, workspace: { kind: 'LocalWorkspace', working_dir },
    confirmation_policy: { kind: policy }, max_iterations: 20, autotitle: false,
  })
  return new Talk(subject, String(memberAt(made, 'id')))
}

async function keep({ note }: Stage, talk: Talk, prompt: string): Promise<void> {
  const events = (await talk.events()).map(plain)
  const told = events.filter((event) => memberAt(event, 'kind') !== 'ConversationStateUpdateEvent')
  note(`${prompt} kinds`, told.map((event) => memberAt(event, 'kind')))
  const counts = new Map<string, number>()
  for (const event of told) {
    const kind = String(memberAt(event, 'kind'))
    const count = (counts.get(kind) ?? 0) + 1
    counts.set(kind, count)
    note(`${prompt} ${kind} ${count}`, event, kind === 'SystemPromptEvent' ? 'shape' : undefined)
  }
  note(`${prompt} frames`, Object.fromEntries(talk.frames.map((frame) => [nameOfFrame(frame), 'sent'])))
  const first = (member: string, value: string): unknown => (
    talk.frames.find((frame) => memberAt(frame, member) === value) ?? null
  )
  note(`${prompt} delta`, first('kind', 'StreamingDeltaEvent'), 'shape')
  note(`${prompt} full_state`, memberAt(first('key', 'full_state'), 'value'), 'shape')
  note(`${prompt} last words`, await talk.call('GET', '/agent_final_response'))
  note(`${prompt} at the end`, await talk.call('GET', ''), 'shape')
  note(`${prompt} status`, await talk.status())
}

function nameOfFrame(frame: unknown): string {
  const key = memberAt(frame, 'key')
  return `${memberAt(frame, 'kind')}${typeof key === 'string' ? ` ${key}` : ''}`
}

/** Ids that the stand-in counts become a word. */
function plain(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/\b(?:call|chatcmpl|toolu)[-_]\w+/g, '<call>')
  if (Array.isArray(value)) return value.map(plain)
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)])) : value
}
