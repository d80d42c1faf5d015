import { suite } from '../../../support/suite.ts'
import * as assert from 'uvu/assert'
import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createTerminalTool, type TerminalToolOptions } from '../../../../src/parts/builtin/tools/terminal.ts'
import type { Tool } from '../../../../src/agents/tool.ts'
import { createMasker } from '../../../../src/base/masking.ts'
import { isTerminalObservation, type Observation } from '../../../../src/schema/generated/observations.ts'
import { makeFolder } from '../../../support/processes.ts'
import { baseEnv, bestKind, instance, sweep } from '../workspace/terminals.ts'

const test = suite('agents/tools/terminal')
test.after(sweep)

async function withTool(
  options: Partial<TerminalToolOptions>, body: (tool: Tool, folder: string) => Promise<void>,
): Promise<void> {
  const { folder, remove } = makeFolder()
  mkdirSync(join(folder, 'work'))
  mkdirSync(join(folder, 'run'))
  const masker = createMasker()
  const tool = createTerminalTool({
    kind: bestKind,
    workingDir: join(folder, 'work'),
    observationsDir: join(folder, 'observations'),
    makeSecretDir: async () => join(folder, 'run'),
    env: { ...baseEnv, USER: 'eva' },
    hostname: 'machine',
    instance,
    createId: randomUUID,
    createMaskingStream: () => masker.stream(),
    onError: () => assert.unreachable(),
    secretsFor: async (command) => {
      masker.register(['s3cret-value'])
      return command.includes('TOKEN') ? { TOKEN: 's3cret-value' } : {}
    },
    ...options,
  })
  try {
    await body(tool, folder)
  } finally {
    await tool.close()
    remove()
  }
}

async function call(tool: Tool, args: Parameters<Tool['read']>[0]): Promise<Observation> {
  const result = tool.read(args)
  if (!result.ok) throw new Error(result.problem)
  return tool.run(result.action, { id: 'call', signal: new AbortController().signal })
}

test('observes a command as the contract says', () => withTool({}, async (tool, folder) => {
  const observation = await call(tool, { command: 'echo hello; false' })
  assert.ok(isTerminalObservation(observation))
  const { metadata, ...rest } = observation
  const suffix = `[The command ended with exit code 1. The shell is in ${folder}/work.]`
  assert.equal(rest, {
    kind: 'TerminalObservation',
    content: [{ type: 'text', text: 'hello\n', cache_prompt: false }],
    is_error: false,
    command: 'echo hello; false',
    exit_code: 1,
    timeout: false,
  })
  assert.equal({ ...metadata, py_interpreter_path: undefined }, {
    exit_code: 1, pid: -1, username: 'eva', hostname: 'machine', working_dir: `${folder}/work`,
    py_interpreter_path: undefined, prefix: '', suffix,
  })
}))

test('gives a command the secrets that it names, hidden in what it prints', () => withTool({}, async (tool) => {
  const texts = async (command: string): Promise<unknown> => (await call(tool, { command })).content[0]
  assert.equal(await texts('echo $TOKEN'), { type: 'text', text: '<secret-hidden>\n', cache_prompt: false })
  assert.equal(await texts('env | grep -c s3cret'), { type: 'text', text: '0\n', cache_prompt: false })
}))

test('the content is the output alone; a refused command has the reason', () => withTool({}, async (tool) => {
  assert.equal((await call(tool, { command: 'true' })).content, [])
  const [json] = (await call(tool, { command: `printf '{"a": 1}'` })).content
  assert.equal(JSON.parse(json?.type === 'text' ? json.text : ''), { a: 1 })
  await call(tool, { command: 'sleep 100', timeout: 0.1 })
  const refused = await call(tool, { command: 'ls' })
  assert.ok(isTerminalObservation(refused))
  assert.equal(refused.content.map((part) => part.type === 'text' && part.text), [refused.metadata?.suffix])
}))

test('the user is named where no variable says who it is', () => withTool({ env: baseEnv }, async (tool) => {
  const observation = await call(tool, { command: 'id -un' })
  assert.ok(isTerminalObservation(observation))
  const [name] = observation.content
  assert.is(observation.metadata?.username, name?.type === 'text' && name.text.trim())
}))

test('names the folder of a whole output that was cut', () => withTool({ outputLimitChars: 100 }, async (
  tool, folder,
) => {
  const observation = await call(tool, { command: 'seq 1000' })
  assert.ok(isTerminalObservation(observation))
  assert.is(observation.full_output_save_dir, join(folder, 'observations'))
  assert.match(observation.metadata?.suffix ?? '', / The whole output is in .*\/observations\/terminal-.*\.txt\.\]$/)
}))

test('marks a refused call as an error and a time-out as no error', () => withTool({}, async (tool) => {
  const late = await call(tool, { command: 'sleep 100', timeout: 0.2 })
  assert.ok(isTerminalObservation(late))
  assert.equal([late.is_error, late.timeout, late.exit_code], [false, true, -1])
  const refused = await call(tool, { command: 'ls' })
  assert.ok(isTerminalObservation(refused))
  assert.equal([refused.is_error, refused.timeout, refused.exit_code], [true, false, -1])
  const anew = await call(tool, { command: '', reset: true })
  assert.ok(isTerminalObservation(anew))
  assert.equal([anew.is_error, anew.exit_code], [false, 0])
}))

async function secretsFor(command: string): Promise<Record<string, string>> {
  assert.is(command, 'cat')
  return {}
}

test('types without giving secrets, and names the user by another variable', () => withTool(
  { env: { ...baseEnv, LOGNAME: 'otto' }, secretsFor },
  async (tool) => {
    await call(tool, { command: 'cat', timeout: 0.3 })
    await call(tool, { command: 'a TOKEN', is_input: true, timeout: 0.3 })
    const ended = await call(tool, { command: 'C-d', is_input: true, timeout: 30 })
    assert.ok(isTerminalObservation(ended))
    assert.is(ended.metadata?.username, 'otto')
    assert.is(ended.exit_code, 0)
  },
))

test('knows nothing of a shell that has not answered yet', () => withTool({ env: baseEnv }, async (tool) => {
  const late = await call(tool, { command: 'sleep 100', timeout: 0.1 })
  assert.ok(isTerminalObservation(late))
  assert.equal(late.metadata, {
    exit_code: -1, pid: -1, hostname: 'machine', prefix: '', suffix: late.metadata?.suffix ?? '',
  })
}))

const wrong: [string, Parameters<Tool['read']>[0], RegExp][] = [
  ['no command', {}, /^expected command as a string/],
  ['a negative time', { command: 'ls', timeout: -1 }, /timeout as a number of seconds from 0$/],
  ['an unknown parameter', { command: 'ls', cwd: '/secret/place' }, /^unknown parameter "cwd"$/],
  ['a kind', { command: 'ls', kind: 'ThinkAction' }, /^unknown parameter "kind"$/],
  ['input and reset together', { command: 'ls', is_input: true, reset: true }, /^reset and is_input cannot/],
  ['a NUL character', { command: 'a\0b' }, /NUL/],
]
for (const [what, args, expected] of wrong) {
  test(`refuses ${what}`, () => withTool({}, async (tool) => {
    const result = tool.read(args)
    assert.match(result.ok ? '' : result.problem, expected)
  }))
}

test('reads what a model may leave out', () => withTool({}, async (tool) => {
  assert.equal(tool.read({ command: 'ls', timeout: null }), {
    ok: true, action: { kind: 'TerminalAction', command: 'ls', is_input: false, reset: false },
  })
}))

test('describes itself to models and clients', () => withTool({}, async (tool) => {
  assert.is(tool.definition.description, tool.description)
  assert.equal(tool.parameters['required'], ['command'])
  assert.not(tool.isReadOnly)
  for (const name of ['is_input', 'timeout', 'reset', 'C-c', '<secret-hidden>']) {
    assert.ok(tool.description.includes(name))
  }
}))

test.run()
