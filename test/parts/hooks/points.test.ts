/** Hooks of a conversation at all six points, with real shells: their events, and their texts for the model. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { AppError } from '../../../src/base/errors.ts'
import type { JsonObject } from '../../../src/base/json.ts'
import { toEmptyPatchCritic } from '../../../src/schema/generated/conversations.ts'
import type { Event } from '../../../src/schema/generated/events.ts'
import { ended, eventsOf, failureOf, objectOf, story, textOf, until, userText } from '../../support/conversation.ts'
import { withBuiltIn, type BuiltIn, type BuiltInOptions } from '../../support/built-in.ts'
import { isAlive, pidsIn } from '../../support/processes.ts'
import { calls, hangs, scriptModel, text, type ModelStep, type ScriptModel } from '../../support/script-model.ts'
import { suite } from '../../support/suite.ts'

const test = suite('agents/builtin/hooks/points')

const ls = calls([['terminal', { command: 'ls' }]])
const finish = calls([['finish', { message: 'all done' }]])

/** One hook for each of these points. */
function hooks(commands: Readonly<Record<string, string>>, more: JsonObject = {}): JsonObject {
  return Object.fromEntries(
    Object.entries(commands).map(([point, command]) => [point, [{ hooks: [{ command, ...more }] }]]),
  )
}

const context = (text: string): string => `echo '{"additionalContext":"${text}"}'`
const deny = (reason: string): string => `echo '${reason}' >&2; exit 2`

type Scene = BuiltIn<ScriptModel>

function withHooks(
  config: JsonObject,
  steps: readonly ModelStep[],
  body: (scene: Scene) => Promise<void>,
  more: Partial<BuiltInOptions<ScriptModel>> = {},
): Promise<void> {
  return withBuiltIn({ model: scriptModel(steps), hooks: config, ...more }, body)
}

async function ask({ conversation }: Scene, words = 'hi'): Promise<void> {
  await conversation.send(userText(words), true)
  await ended(conversation)
}

/** The history without figures. */
async function told({ conversation }: Scene): Promise<string[]> {
  return (await story(conversation)).filter((word) => !word.startsWith('update '))
}

async function eventOf<K extends Event['kind']>(
  { conversation }: Scene, kind: K,
): Promise<Extract<Event, { kind: K }>[]> {
  return (await eventsOf(conversation.events)).filter((event): event is Extract<Event, { kind: K }> => {
    return event.kind === kind
  })
}

/** Returns the messages of one call of the model, without the system prompt. */
function heard({ model }: Scene, call: number): string[] {
  const messages = model.requests[call]?.messages ?? []
  return messages.slice(1).map(({ message }) => `${message.role}: ${textOf(message)}`)
}

function lines({ world }: Scene, name: string): string[] {
  const path = join(world.folder, name)
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []
}

test('an action that a hook blocks is answered with a rejection of the hook, and the others go on', async () => {
  const config = {
    pre_tool_use: [
      { matcher: 'terminal', hooks: [{ command: `grep -q 'rm ' && { ${deny('never remove a SECRET')}; }; true` }] },
    ],
  }
  const step = calls([['terminal', { command: 'rm x' }], ['think', { thought: 'hm' }], ['terminal', { command: 'ls' }]])
  await withHooks(config, [step], async (scene) => {
    await ask(scene)
    assert.equal(scene.done, ['hm', 'ls'])
    assert.equal((await told(scene)).slice(3), [
      'action call-1-1', 'action call-1-2', 'action call-1-3', 'UserRejectObservation', 'observation call-1-2',
      'observation call-1-3', 'agent: done', 'status finished',
    ])
    const [rejection] = await eventOf(scene, 'UserRejectObservation')
    const [action] = await eventOf(scene, 'ActionEvent')
    assert.is(rejection?.rejection_source, 'hook')
    assert.is(rejection?.rejection_reason, 'never remove a <secret-hidden>')
    assert.is(rejection?.source, 'environment')
    assert.is(rejection?.action_id, action?.id)
    assert.equal(heard(scene, 1).slice(2), [
      'tool: The action was rejected: never remove a <secret-hidden>', 'tool: noted', 'tool: ran ls',
    ])
    assert.equal(scene.conversation.state.open_actions, [])
  })
})

test('an approved action is shown to hooks too, and a finish that a hook blocks does not finish', async () => {
  const changes = { confirmation_policy: { kind: 'AlwaysConfirm' } }
  await withHooks(
    { PreToolUse: [{ matcher: 'terminal|finish', hooks: [{ command: deny('no') }] }] },
    [ls, finish],
    async (scene) => {
      await ask(scene)
      assert.is(scene.conversation.state.execution_status, 'waiting_for_confirmation')
      await scene.conversation.respond({ accept: true, reason: '' })
      await ended(scene.conversation)
      assert.equal(scene.done, [])
      assert.is((await eventOf(scene, 'UserRejectObservation')).length, 2)
      assert.equal((await told(scene)).slice(-3), ['UserRejectObservation', 'agent: done', 'status finished'])
    },
    { changes },
  )
})

test('a model that tries a blocked action again and again is stuck', async () => {
  await withHooks(hooks({ pre_tool_use: deny('no') }), [ls, ls, ls, ls, ls], async (scene) => {
    await ask(scene)
    assert.is(scene.conversation.state.execution_status, 'stuck')
    assert.is(scene.model.requests.length, 4)
  })
})

test('what a hook says before a tool reaches the model also when the tool fails', async () => {
  const terminal = async (): Promise<string> => Promise.reject(new AppError('unavailable', 'no shell'))
  await withHooks(hooks({ pre_tool_use: context('mind the gap') }), [ls], async (scene) => {
    await ask(scene)
    assert.equal((await told(scene)).slice(3, 6), [
      'action call-1-1', 'error call-1-1', 'environment: [PreToolUse hook context] mind the gap',
    ])
    assert.match(heard(scene, 1).slice(2).join(), /no shell.*mind the gap/)
  }, { terminal })
})

test('what hooks say about a tool follows its result, and an objection afterwards undoes nothing', async () => {
  const config = hooks({
    pre_tool_use: context('mind the SECRET gap'), post_tool_use: `cat > response; ${deny('tests are red')}`,
  })
  await withHooks(config, [ls], async (scene) => {
    await ask(scene)
    assert.equal((await told(scene)).slice(3), [
      'action call-1-1', 'observation call-1-1', 'environment: [PreToolUse hook context] mind the <secret-hidden> gap',
      'environment: [PostToolUse hook feedback] tests are red', 'agent: done', 'status finished',
    ])
    assert.equal(heard(scene, 1).slice(2), [
      'tool: ran ls',
      'user: [PreToolUse hook context] mind the <secret-hidden> gap[PostToolUse hook feedback] tests are red',
    ])
    const [observation] = await eventOf(scene, 'ObservationEvent')
    assert.equal(objectOf(JSON.parse(lines(scene, 'response')[0] ?? ''))['tool_response'], observation?.observation)
  })
})

test('a tool that throws is no use that a hook would be told of', async () => {
  const terminal = async (): Promise<string> => {
    throw new Error('broken')
  }
  await withHooks(hooks({ post_tool_use: 'touch told' }), [ls], async (scene) => {
    await ask(scene)
    assert.equal((await told(scene)).slice(3), ['action call-1-1', 'error call-1-1', 'agent: done', 'status finished'])
    assert.equal(lines(scene, 'told'), [])
  }, { terminal })
})

test('what hooks say at the beginning and about a message goes into the history with it', async () => {
  const config = hooks({
    session_start: `echo start >> order; ${context('it is Saturday')}`,
    user_prompt_submit: `cat >> order; echo >> order; ${context('be brief')}`,
  })
  await withHooks(config, [], async (scene) => {
    await ask(scene)
    await ask(scene, 'again')
    assert.equal(await told(scene), [
      'SystemPromptEvent', 'user: hi', 'status running', 'agent: done', 'status finished',
      'status idle', 'user: again', 'status running', 'agent: done', 'status finished',
    ])
    const messages = (await eventOf(scene, 'MessageEvent')).filter(({ source }) => source === 'user')
    assert.equal(messages.map((event) => event.extended_content.map((part) => part.text)), [
      ['it is Saturday', 'be brief'], ['be brief'],
    ])
    assert.equal(heard(scene, 0), ['user: hiit is Saturdaybe brief'])
    const [start, first, second] = lines(scene, 'order')
    assert.is(start, 'start')
    assert.match(
      first ?? '',
      '"event_type":"UserPromptSubmit","tool_name":null,"tool_input":null,"tool_response":null,"message":"hi"',
    )
    assert.match(second ?? '', '"message":"again"')
  })
})

test('a message that a hook refuses is recorded with the reason, ends in finished, and no model sees it', async () => {
  await withHooks(
    hooks({ user_prompt_submit: `grep -q bad && { ${deny('mind your SECRET tongue')}; }; true` }),
    [],
    async (scene) => {
      await ask(scene, 'bad words')
      const note = 'environment: [Message blocked by hook] mind your <secret-hidden> tongue'
      assert.equal(await told(scene), [
        'SystemPromptEvent', 'user: bad words', note, 'status running', 'status finished',
      ])
      const [message] = await eventOf(scene, 'MessageEvent')
      assert.equal(message?.extended_content.map((part) => part.text), [
        '[Blocked by hook] mind your <secret-hidden> tongue',
      ])
      assert.is(scene.conversation.state.last_user_message_id, message?.id)
      assert.is(scene.model.requests.length, 0)
      await scene.conversation.run()
      await ended(scene.conversation)
      assert.is(scene.model.requests.length, 0)
      await ask(scene, 'kind words')
      assert.equal(heard(scene, 0), ['user: [Message blocked by hook] mind your <secret-hidden> tonguekind words'])
      const again = await scene.reopen()
      assert.equal(again.state.unserved, [])
    },
  )
})

test('a refused message that is not to be run changes no status, and one during a run does not stop it', async () => {
  await withHooks(
    hooks({ user_prompt_submit: `grep -q bad && { ${deny('no')}; }; true` }),
    [hangs, text('resumed')],
    async (scene) => {
      const { conversation } = scene
      await conversation.send(userText('bad'), false)
      assert.is(conversation.state.execution_status, 'idle')
      await conversation.send(userText('good'), true)
      await until(() => scene.model.requests.length === 1)
      await conversation.send(userText('bad again'), true)
      assert.ok(conversation.isRunning)
      await conversation.interrupt()
      await conversation.run()
      await ended(conversation)
      assert.equal((await told(scene)).slice(-3), ['status running', 'agent: resumed', 'status finished'])
      assert.not.match(heard(scene, 1).join(), 'bad')
    },
  )
})

test('messages are recorded in the order in which they came, however long their hooks take', async () => {
  await withHooks(
    hooks({ user_prompt_submit: 'grep -q slow && while [ ! -e go ]; do sleep 0.01; done; true' }),
    [],
    async (scene) => {
      const { conversation, world } = scene
      const slow = conversation.send(userText('slow'), false)
      const quick = conversation.send(userText('quick'), false)
      await conversation.patch({ title: 'meanwhile' })
      assert.is(conversation.state.last_user_message_id, null)
      writeFileSync(join(world.folder, 'go'), '')
      await Promise.all([slow, quick])
      assert.equal(await told(scene), ['SystemPromptEvent', 'user: slow', 'user: quick'])
    },
  )
})

test('an objection to the end sends the run on with the feedback', async () => {
  const once = `[ -e tested ] || { touch tested; ${deny('run the SECRET tests')}; }`
  for (const step of [text('I am done'), finish]) {
    await withHooks(hooks({ stop: once }), [step, text('tested')], async (scene) => {
      await ask(scene)
      const feedback = '[Stop hook feedback] run the <secret-hidden> tests'
      assert.equal((await told(scene)).slice(-3), [`environment: ${feedback}`, 'agent: tested', 'status finished'])
      assert.is(heard(scene, 1).at(-1), `user: ${feedback}`)
    })
  }
})

test('hooks that always object are overruled at last', async () => {
  const steps = Array.from({ length: 20 }, (_, number) => text(`try ${number}`))
  await withHooks(hooks({ stop: deny('more') }), steps, async (scene) => {
    await ask(scene)
    assert.is(scene.conversation.state.execution_status, 'finished')
    assert.is(scene.model.requests.length, 11)
    assert.match(scene.world.reports.join(), /objection of a Stop hook .* no effect: hooks objected 10 times/)
  }, { changes: { stuck_detection: false } })
})

test('the objections of the critic are not counted as objections of hooks', async () => {
  const config = hooks({ stop: `echo end >> ends; test $(wc -l < ends) -ne 11 || { ${deny('once')}; }` })
  const critic = toEmptyPatchCritic({ kind: 'EmptyPatchCritic', iterative_refinement: { max_iterations: 10 } })
  const steps = Array.from({ length: 20 }, (_, number) => text(`try ${number}`))
  await withHooks(config, steps, async (scene) => {
    await ask(scene)
    const words = await told(scene)
    assert.is(words.filter((word) => word.startsWith('environment: [Critic]')).length, 10)
    assert.equal(words.slice(-3), ['environment: [Stop hook feedback] once', 'agent: try 11', 'status finished'])
    assert.is(lines(scene, 'ends').length, 12)
    assert.not.match(scene.world.reports.join(), /objection of a Stop hook/)
  }, { settings: { critic }, changes: { stuck_detection: false } })
})

test('a turn that is stopped, or fails, asks no hook about its end', async () => {
  await withHooks(hooks({ stop: 'touch asked' }), [hangs], async (scene) => {
    await scene.conversation.send(userText('hi'), true)
    await until(() => scene.model.requests.length === 1)
    await scene.conversation.interrupt()
    assert.equal(lines(scene, 'asked'), [])
  })
})

test(
  'a session ends with its hooks when the conversation is closed, and another begins with the next run',
  async () => {
    const config = hooks({
      session_start: `echo start >> order; ${context('fresh')}`,
      session_end: 'echo end >> order',
      user_prompt_submit: 'true',
    })
    await withHooks(config, [hangs], async (scene) => {
      await scene.conversation.send(userText('hi'), true)
      await until(() => scene.model.requests.length === 1)
      const again = await scene.reopen()
      assert.equal(lines(scene, 'order'), ['start', 'end'])
      await again.run()
      await ended(again)
      assert.equal(lines(scene, 'order'), ['start', 'end', 'start'])
      assert.equal((await story(again)).filter((word) => !word.startsWith('update ')).slice(-3), [
        'environment: fresh', 'agent: done', 'status finished',
      ])
      await again.close()
      assert.equal(lines(scene, 'order'), ['start', 'end', 'start', 'end'])
    })
  },
)

test('an agent that never began a session ends none', async () => {
  await withHooks(hooks({ session_end: 'touch ended' }), [], async (scene) => {
    await failureOf(scene.conversation.asides.ask('hm?', new AbortController().signal))
    await scene.reopen()
    assert.equal(lines(scene, 'ended'), [])
  })
})

test('hooks at the end are ended when they take too long', async () => {
  await withHooks(hooks({ session_end: 'touch $$; exec sleep 1000' }), [], async (scene) => {
    await ask(scene)
    await scene.conversation.close()
    assert.is(pidsIn(scene.world.folder).length, 1)
    for (const pid of pidsIn(scene.world.folder)) assert.not.ok(isAlive(pid))
    assert.match(scene.world.reports.join(), 'The hooks at the end of a session failed or took too long')
  })
})

test('an interrupt ends the hook of a tool at once, and async hooks of the turn with it', async () => {
  const config = {
    pre_tool_use: [
      { hooks: [{ command: 'touch $$; exec sleep 1000', async: true }, { command: 'touch $$; exec sleep 1000' }] },
    ],
  }
  await withHooks(config, [ls], async (scene) => {
    await scene.conversation.send(userText('hi'), true)
    await until(() => pidsIn(scene.world.folder).length === 2)
    await scene.conversation.interrupt()
    for (const pid of pidsIn(scene.world.folder)) assert.not.ok(isAlive(pid))
    assert.equal((await told(scene)).slice(3), ['action call-1-1', 'error call-1-1', 'status paused', 'pause'])
    assert.equal(scene.done, [])
  })
})

test('an interrupt of what hooks do after a tool leaves the result of the tool', async () => {
  await withHooks(hooks({ post_tool_use: 'touch $$; exec sleep 1000' }), [ls], async (scene) => {
    await scene.conversation.send(userText('hi'), true)
    await until(() => pidsIn(scene.world.folder).length === 1)
    await scene.conversation.interrupt()
    assert.equal((await told(scene)).slice(3), ['action call-1-1', 'observation call-1-1', 'status paused', 'pause'])
  })
})

test(
  'a close ends the hooks of a message that is not recorded yet, and async ones that outlived their turn',
  async () => {
    const config = {
      user_prompt_submit: [{ hooks: [{ command: 'grep -q slow && { touch $$; exec sleep 1000; }; true' }] }],
      stop: [{ hooks: [{ command: 'touch $$; exec sleep 1000', async: true }] }],
    }
    await withHooks(config, [], async (scene) => {
      await ask(scene)
      const failure = failureOf(scene.conversation.send(userText('slow'), true))
      await until(() => pidsIn(scene.world.folder).length === 2)
      await scene.conversation.close()
      assert.is(await failure, 'conflict')
      for (const pid of pidsIn(scene.world.folder)) assert.not.ok(isAlive(pid))
    })
  },
)

test.run()
