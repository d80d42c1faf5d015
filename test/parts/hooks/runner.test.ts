/** Hooks at one point: which run, in which order, with which input, and how hooks beside the work end. */
import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { HookRunner, type HookRunnerOptions } from '../../../src/parts/hooks/runner.ts'
import { silentLog } from '../../../src/base/log.ts'
import { startChild } from '../../../src/process/child.ts'
import { toHookConfig, type HookConfigInput } from '../../../src/schema/generated/hooks.ts'
import { failureOf } from '../../support/conversation.ts'
import { isAlive, makeFolder, pidsIn, until } from '../../support/processes.ts'
import { suite } from '../../support/suite.ts'

const test = suite('agents/builtin/hooks/runner')
const { signal } = new AbortController()

interface Scene {
  readonly runner: HookRunner
  readonly folder: string
  /** The lines of the server's log. */
  readonly told: string[]
  read(name: string): string
}

async function withRunner(
  config: HookConfigInput, body: (scene: Scene) => Promise<void>, more: Partial<HookRunnerOptions> = {},
): Promise<void> {
  const { folder, remove } = makeFolder()
  const told: string[] = []
  const runner = new HookRunner({
    config: toHookConfig(config),
    conversationId: 'the-conversation',
    workingDir: folder,
    mask: (text) => text.replaceAll('SECRET', '*'),
    env: { PATH: process.env['PATH'] ?? '', PASSED: 'yes' },
    instance: `test${randomUUID().slice(0, 8)}`,
    createId: randomUUID,
    startProcess: startChild,
    log: { ...silentLog, warn: (message, fields) => told.push(`${message} ${JSON.stringify(fields)}`) },
    ...more,
  })
  try {
    await body({ runner, folder, told, read: (name) => readFileSync(join(folder, name), 'utf8') })
  } finally {
    await runner.endBeside()
    remove()
  }
}

test('a hook is told of the occasion on stdin and in variables', async () => {
  const command = 'cat > input; env | grep -E "^(OPENHANDS|PASSED|AGENT_SERVER|HOME)" | sort > variables; pwd > place'
  await withRunner({ post_tool_use: [{ hooks: [{ command }] }] }, async ({ runner, folder, read }) => {
    const toolInput = { kind: 'TerminalAction', command: 'ls' }
    await runner.run({ point: 'PostToolUse', toolName: 'terminal', toolInput, toolResponse: { exit_code: 0 } }, signal)
    assert.equal(JSON.parse(read('input')), {
      event_type: 'PostToolUse', tool_name: 'terminal', tool_input: toolInput, tool_response: { exit_code: 0 },
      message: null,
      session_id: 'the-conversation', working_dir: folder, metadata: {},
    })
    const [marker, ...variables] = read('variables').trim().split('\n')
    assert.match(marker ?? '', /^AGENT_SERVER_CHILD=test\w+\/hook-[\w-]+$/)
    assert.equal(variables, [
      'OPENHANDS_EVENT_TYPE=PostToolUse', `OPENHANDS_PROJECT_DIR=${folder}`, 'OPENHANDS_SESSION_ID=the-conversation',
      'OPENHANDS_TOOL_NAME=terminal', 'PASSED=yes',
    ])
    assert.is(read('place').trim(), folder)
  })
})

test('a point without a tool names none', async () => {
  const command = 'cat > input; echo ${OPENHANDS_TOOL_NAME-unset} > variable'
  await withRunner({ user_prompt_submit: [{ hooks: [{ command }] }] }, async ({ runner, read }) => {
    await runner.run({ point: 'UserPromptSubmit', message: 'hello' }, signal)
    assert.match(read('input'), '"tool_name":null,"tool_input":null,"tool_response":null,"message":"hello"')
    assert.is(read('variable'), 'unset\n')
  })
})

test('hooks run one after the other until one blocks, and their contexts are collected', async () => {
  const says = (text: string): { command: string } => ({
    command: `echo ${text} >> order; echo '{"additionalContext":"${text} SECRET"}'`,
  })
  const config = {
    pre_tool_use: [
      { matcher: 'terminal', hooks: [says('one'), { command: 'echo failing >> order; : SECRET; exit 1' }] },
      { matcher: 'grep', hooks: [says('never')] },
      {
        matcher: 'term.*',
        hooks: [says('two'), { command: 'echo block >> order; echo "a SECRET reason" >&2; exit 2' }, says('late')],
      },
      { hooks: [says('later')] },
    ],
  }
  await withRunner(config, async ({ runner, read, told }) => {
    const outcome = await runner.run({ point: 'PreToolUse', toolName: 'terminal' }, signal)
    assert.equal(outcome, { blocked: 'a * reason', contexts: ['one *', 'two *'] })
    assert.equal(read('order').trim().split('\n'), ['one', 'failing', 'two', 'block'])
    assert.is(told.length, 1)
    assert.match(told[0] ?? '', /^A hook failed .*: \*; exit 1","problem":"it ended with exit code 1"/)
    assert.equal(await runner.run({ point: 'PostToolUse', toolName: 'terminal' }, signal), {
      blocked: undefined, contexts: [],
    })
  })
})

test('a hook that cannot be started or takes too long blocks nothing', async () => {
  const config = {
    stop: [
      { hooks: [{ command: 'sleep 1000', timeout: 0.2, name: 'slow' }, { command: `echo ${'x'.repeat(200_000)}` }] },
    ],
  }
  await withRunner(config, async ({ runner, told }) => {
    assert.is((await runner.run({ point: 'Stop' }, signal)).blocked, undefined)
    assert.is(told.length, 2)
    assert.match(told[0] ?? '', /"slow","problem":"it did not end within 200 ms"/)
    assert.match(told[1] ?? '', /Cannot start /)
  })
})

test('what cannot be ended is a failure that is told', async () => {
  const startProcess: HookRunnerOptions['startProcess'] = async (options) => {
    const child = await startChild(options)
    const stop = child.stop.bind(child)
    child.stop = async () => {
      await stop()
      throw new Error('it lives')
    }
    return child
  }
  await withRunner({ stop: [{ hooks: [{ command: 'true' }] }] }, async ({ runner, told }) => {
    assert.is((await runner.run({ point: 'Stop' }, signal)).blocked, undefined)
    assert.match(told[0] ?? '', 'it lives')
  }, { startProcess })
})

test('hooks that are no commands are not run, which is told once', async () => {
  const config = {
    stop: [{ hooks: [{ type: 'prompt', prompt: 'enough?' }, { type: 'agent' }, { command: 'touch ran' }] }],
  } as const
  await withRunner(config, async ({ runner, told, folder }) => {
    await runner.run({ point: 'Stop' }, signal)
    await runner.run({ point: 'Stop' }, signal)
    assert.equal(told, ['Hooks of other types than "command" are not run {"type":"prompt"}'])
    assert.ok(existsSync(join(folder, 'ran')))
  })
})

test('an async hook runs beside the work, decides nothing, and is over when all is settled', async () => {
  const command = 'while [ ! -e go ]; do sleep 0.01; done; touch done; exit 2'
  await withRunner({ stop: [{ hooks: [{ command, async: true }, { command: 'touch go' }] }] }, async (
    { runner, folder },
  ) => {
    assert.equal(await runner.run({ point: 'Stop' }, signal), { blocked: undefined, contexts: [] })
    await runner.settled()
    assert.ok(existsSync(join(folder, 'done')))
  })
})

test('async hooks end with their owner, and the others go on', async () => {
  const command = 'touch $$; exec sleep 1000'
  await withRunner({ stop: [{ hooks: [{ command, async: true }] }] }, async ({ runner, folder, told }) => {
    const other = new AbortController().signal
    await runner.run({ point: 'Stop' }, signal)
    await until(() => pidsIn(folder).length === 1)
    const [first = 0] = pidsIn(folder)
    await runner.run({ point: 'Stop' }, other)
    await until(() => pidsIn(folder).length === 2)
    await runner.endBeside(signal)
    assert.not.ok(isAlive(first))
    const [second = 0] = pidsIn(folder).filter((pid) => pid !== first)
    assert.ok(isAlive(second))
    await runner.endBeside()
    assert.not.ok(isAlive(second))
    assert.equal(told, [])
  })
})

test('no more than sixteen run beside the work', async () => {
  const hooks = Array.from({ length: 18 }, () => ({ command: 'echo x >> started; exec sleep 1000', async: true }))
  await withRunner({ stop: [{ hooks }] }, async ({ runner, told, read, folder }) => {
    await runner.run({ point: 'Stop' }, signal)
    assert.equal(told.map((line) => line.slice(0, 18)), ['A hook was not run', 'A hook was not run'])
    await until(() => existsSync(join(folder, 'started')) && read('started').length === 32)
  })
})

test('a stop ends the hook that runs and begins no other', async () => {
  const stop = new AbortController()
  const hooks = [{ command: 'touch $$; exec sleep 1000' }, { command: 'touch second' }]
  await withRunner({ stop: [{ hooks }] }, async ({ runner, folder }) => {
    const failure = failureOf(runner.run({ point: 'Stop' }, stop.signal))
    await until(() => pidsIn(folder).length === 1)
    stop.abort(new Error('stopped'))
    assert.is(await failure, 'stopped')
    for (const pid of pidsIn(folder)) assert.not.ok(isAlive(pid))
    assert.not.ok(existsSync(join(folder, 'second')))
  })
})

test.run()
