import * as assert from 'uvu/assert'
import { suite } from '../../support/suite.ts'
import { memberAt, objectsOf } from '../../../src/base/fields.ts'
import type { AgentHost } from '../../../src/conversation/agent/host.ts'
import {
  answers, checkpoint, ended, eventsOf, failureOf, finished, makeConversation, objectOf, openTestConversation, question,
  say, story, until, userText, withConversation, withWorld, worksOn, type Script,
} from '../../support/conversation.ts'

const test = suite('conversation/run/turn-runner')

/** Asks once and reports the answer as its text. */
const asks: Script = async (turn) => {
  const answer = await turn.ask(question)
  turn.record(say(answer.outcome === 'denied' ? `denied: ${answer.reason}` : answer.outcome))
  return finished
}

test('a question makes the conversation wait, and its answer lets the turn go on', async () => {
  await withConversation(async (conversation, world) => {
    world.scripts.push(asks)
    await conversation.run()
    await until(() => conversation.state.execution_status === 'waiting_for_confirmation')
    assert.equal(conversation.confirmations().map((open) => open.title), ['Run ls'])
    assert.equal(conversation.state.pending_confirmations, JSON.parse(JSON.stringify(conversation.confirmations())))
    await conversation.respond({ accept: true, reason: '' })
    await ended(conversation)
    assert.equal(await story(conversation), [
      'status running', 'pending 1', 'status waiting_for_confirmation', 'pending 0', 'status running',
      'agent: accepted', 'status finished',
    ])
  })
})

test('a rejection gives the agent the reason and the turn goes on', async () => {
  await withConversation(async (conversation, world) => {
    world.scripts.push(asks)
    await conversation.run()
    await until(() => conversation.confirmations().length === 1)
    const [open] = conversation.confirmations()
    await conversation.respond({ accept: false, reason: 'no', id: open?.id })
    await ended(conversation)
    assert.ok((await story(conversation)).includes('agent: denied: no'))
  })
})

test('with two questions the conversation waits until both are answered', async () => {
  await withConversation(async (conversation, world) => {
    world.scripts.push(async (turn) => {
      await Promise.all([turn.ask(question), turn.ask(question)])
      return finished
    })
    await conversation.run()
    await until(() => conversation.confirmations().length === 1)
    await conversation.respond({ accept: true, reason: '', id: conversation.confirmations()[0]?.id })
    assert.is(conversation.confirmations().length, 1)
    assert.is(conversation.state.execution_status, 'waiting_for_confirmation')
    await conversation.respond({ accept: true, reason: '' })
    await ended(conversation)
    assert.equal(await story(conversation), [
      'status running', 'pending 1', 'status waiting_for_confirmation', 'pending 1', 'pending 0', 'status running',
      'status finished',
    ])
  })
})

test(
  'a question that its agent withdraws holds no place: the conversation goes on, or waits for the next one',
  async () => {
    await withConversation(async (conversation, world) => {
      const givenUp = new AbortController()
      world.scripts.push(async (turn) => {
        const answers = await Promise.all([turn.ask(question, givenUp.signal), turn.ask(question)])
        turn.record(say(answers.map(({ outcome }) => outcome).join()))
        return finished
      })
      await conversation.run()
      await until(() => conversation.state.execution_status === 'waiting_for_confirmation')
      const [first] = conversation.confirmations()
      givenUp.abort()
      assert.is(await failureOf(conversation.respond({ accept: true, reason: '', id: first?.id })), 'not_found')
      assert.is(conversation.state.execution_status, 'waiting_for_confirmation')
      await conversation.respond({ accept: true, reason: '' })
      await ended(conversation)
      assert.ok((await story(conversation)).includes('agent: cancelled,accepted'))
    })
  },
)

test('an answer to nothing changes nothing, and one to an unknown question is refused', async () => {
  await withConversation(async (conversation) => {
    await conversation.respond({ accept: true, reason: '' })
    assert.is(await failureOf(conversation.respond({ accept: true, reason: '', id: 'unknown' })), 'not_found')
    assert.equal(await story(conversation), [])
  })
})

test('a pause leaves a question standing, an interrupt cancels it', async () => {
  await withConversation(async (conversation, world) => {
    world.scripts.push(asks)
    await conversation.run()
    await until(() => conversation.state.execution_status === 'waiting_for_confirmation')
    await conversation.pause()
    assert.is(conversation.confirmations().length, 1)
    assert.is(await failureOf(conversation.run()), 'already_running')
    await conversation.interrupt()
    assert.equal((await story(conversation)).slice(2), [
      'status waiting_for_confirmation', 'pending 0', 'agent: cancelled', 'status paused', 'pause',
    ])
  })
})

test('a message with run while the agent asks answers nothing, and is served after the turn', async () => {
  await withConversation(async (conversation, world) => {
    world.scripts.push(asks, answers('on to the next'))
    await conversation.send(userText('one'), true)
    await until(() => conversation.state.execution_status === 'waiting_for_confirmation')
    await conversation.send(userText('two'), true)
    assert.is(conversation.state.execution_status, 'waiting_for_confirmation')
    assert.is(conversation.confirmations().length, 1)
    await conversation.respond({ accept: false, reason: 'no' })
    await ended(conversation)
    assert.equal((await story(conversation)).slice(-5), [
      'pending 0', 'status running', 'agent: denied: no', 'agent: on to the next', 'status finished',
    ])
    assert.equal(world.agents[0]?.served, [['one'], ['two']])
  })
})

test('a turn that ends with its question open takes the question with it', async () => {
  for (const end of [finished, { outcome: 'failed', served: true, code: 'ACPPromptError', detail: 'died' }] as const) {
    await withConversation(async (conversation, world) => {
      world.scripts.push(async (turn) => {
        void turn.ask(question)
        await until(() => conversation.state.execution_status === 'waiting_for_confirmation')
        return end
      })
      await conversation.run()
      await ended(conversation)
      assert.equal(conversation.confirmations(), [])
      assert.equal(conversation.state.pending_confirmations, [])
      assert.is(conversation.state.execution_status, end.outcome === 'finished' ? 'finished' : 'error')
    })
  }
})

// An agent that can answer later, from the history alone.
test('a turn may end waiting; then a message starts nothing and a run goes on', async () => {
  await withConversation(async (conversation, world) => {
    world.scripts.push(() => ({ outcome: 'waiting', served: true }), answers('done'))
    await conversation.send(userText('one'), true)
    await ended(conversation)
    assert.is(conversation.state.execution_status, 'waiting_for_confirmation')
    await conversation.send(userText('two'), true)
    assert.not.ok(conversation.isRunning)
    await conversation.run()
    await ended(conversation)
    assert.equal(world.agents[0]?.served, [['one'], ['two']])
    assert.is(conversation.state.execution_status, 'finished')
  })
})

test('a message that came during a turn that ends waiting does not approve it', async () => {
  await withConversation(async (conversation, world) => {
    const work = checkpoint()
    world.scripts.push(async () => {
      await work.here()
      return { outcome: 'waiting', served: true }
    })
    await conversation.send(userText('one'), true)
    await work.reached
    await conversation.send(userText('two'), true)
    work.pass()
    await ended(conversation)
    assert.is(conversation.state.execution_status, 'waiting_for_confirmation')
    assert.is(world.agents[0]?.turns.length, 1)
  })
})

test('the agent gets what the conversation lends it', async () => {
  await withConversation(async (conversation, world) => {
    const lent: unknown[] = []
    world.scripts.push(async (_turn, host) => {
      lent.push(host.conversationId, host.workingDir, host.policy(), host.mask('a SECRET b'))
      lent.push([...(await host.secrets(new AbortController().signal))])
      lent.push(host.observationsDir.endsWith(`${conversation.id}/observations`))
      return finished
    })
    await conversation.addSecrets({ TOKEN: { kind: 'StaticSecret', value: 'as1:x' } })
    await conversation.run()
    await ended(conversation)
    assert.equal(lent, [
      conversation.id, '/workspace', { kind: 'NeverConfirm' }, 'a <secret-hidden> b',
      [['TOKEN', 'value of TOKEN']], true,
    ])
  })
})

test(
  'a secret that the agent gives back is kept with the conversation only where it is the conversation\'s own',
  async () => {
    await withConversation(async (conversation, world) => {
      const answers = [true, false, { TOKEN: { kind: 'StaticSecret', value: 'as1:new' } }]
      const given: unknown[] = []
      Object.assign(world.deps.secrets, {
        replace: async (_id: string, sources: object, change: object) => {
          given.push([Object.keys(sources), change])
          return answers[given.length - 1]
        },
      })
      const change = { name: 'TOKEN', lent: 'old', current: 'new' }
      const results: boolean[] = []
      world.scripts.push(async (_turn, host) => {
        for (const _ of answers) results.push(await host.replaceSecret(change))
        return finished
      })
      await conversation.addSecrets({ TOKEN: { kind: 'StaticSecret', value: 'as1:old' } })
      await conversation.run()
      await ended(conversation)
      assert.equal(results, [true, false, true])
      assert.equal(given, answers.map(() => [['TOKEN'], change]))
      assert.equal(conversation.state.secrets, { TOKEN: { kind: 'StaticSecret', value: 'as1:new' } })
    })
  },
)

test('a policy that this version does not know is taken for the strictest', async () => {
  await withConversation(async (conversation, world) => {
    const policies: unknown[] = []
    world.scripts.push((_turn, host) => {
      policies.push(host.policy())
      return finished
    })
    await conversation.run()
    await ended(conversation)
    assert.equal(policies, [{ kind: 'AlwaysConfirm' }])
  }, { confirmation_policy: { kind: 'FromTheFuture' } })
})

test('what an agent keeps is there at once, and in the next life of the conversation', async () => {
  await withWorld(async (world) => {
    const directory = await makeConversation(world)
    const seen: unknown[] = []
    const looks: Script = (_turn, host) => {
      seen.push(host.kept('session'))
      host.keep('session', { id: 'one' })
      seen.push(host.kept('session'))
      return finished
    }
    for (const script of [looks, looks]) {
      world.scripts.push(script)
      const conversation = await openTestConversation(world, directory)
      await conversation.run()
      await ended(conversation)
      await conversation.send(userText('more'), false)
      await conversation.close()
    }
    assert.equal(seen, [undefined, { id: 'one' }, { id: 'one' }, { id: 'one' }])
  })
})

test('the agent state is merged, and published when it changes', async () => {
  await withConversation(async (conversation, world) => {
    world.scripts.push((_turn, host) => {
      host.state({ acp_agent_name: 'a' })
      host.state({ acp_session_id: 's' })
      host.state({ acp_session_id: 's' })
      return finished
    })
    await conversation.run()
    await ended(conversation)
    const updates = (await story(conversation)).filter((word) => word === 'update agent_state')
    assert.is(updates.length, 2)
    assert.equal(conversation.state.agent_state, { acp_agent_name: 'a', acp_session_id: 's' })
  })
})

test(
  'figures of use are in the agent state, which is not stored again for them, and is whole after a restart',
  async () => {
    await withWorld(async (world) => {
      const directory = await makeConversation(world)
      const models = Array.from({ length: 67 }, (_, index) => ({
        model_id: `provider/model-${index}`, name: `Model number ${index}`, description: 'One of many',
      }))
      const works: Script = (turn, host) => {
        host.state({ acp_available_models: models })
        turn.usage({ usageId: 'acp-managed', model: 'm', promptTokens: 7 })
        return finished
      }
      const conversation = await openTestConversation(world, directory)
      for (const words of ['one', 'two', 'three']) {
        world.scripts.push(works)
        await conversation.send(userText(words), true)
        await ended(conversation)
      }
      const state = structuredClone(conversation.state.agent_state)
      assert.is(memberAt(state, 'usage', 'models', 'm', 'prompt_tokens', 'value'), 21)
      assert.is(objectsOf(state['acp_available_models']).length, 67)
      const updates = (await eventsOf(conversation.events)).filter((event) => {
        return event.kind === 'ConversationStateUpdateEvent' && event.key === 'agent_state'
      })
      assert.is(updates.length, 1)
      await conversation.close()
      const again = await openTestConversation(world, directory)
      assert.equal(again.state.agent_state, state)
      await again.close()
    })
  },
)

test('usage is added up over turns and published as stats', async () => {
  await withConversation(async (conversation, world) => {
    const reports: Script = (turn) => {
      turn.usage({ usageId: 'acp-managed', model: 'm', cost: 0.5, promptTokens: 10 })
      return finished
    }
    world.scripts.push(reports, reports)
    await conversation.send(userText('a'), true)
    await ended(conversation)
    await conversation.send(userText('b'), true)
    await ended(conversation)
    assert.match(JSON.stringify(conversation.state.stats), '"accumulated_cost":1,')
    assert.match(JSON.stringify(conversation.state.stats), '"prompt_tokens":20,')
  })
})

test('deltas reach live readers in their place and are not stored', async () => {
  await withConversation(async (conversation, world) => {
    const frames: string[] = []
    conversation.join({
      from: 'now',
      encode: (json) => json,
      sink: { write: (json) => frames.push(json.toString()) > 0, end: () => undefined },
    })
    world.scripts.push((turn) => {
      turn.delta({ content: 'hel' })
      turn.record(say('hello'))
      turn.delta({ reasoning_content: 'hm' })
      return finished
    })
    await conversation.run()
    await ended(conversation)
    const kinds = frames.map((frame) => /"kind":"(\w+)"/.exec(frame)?.[1])
    assert.equal(kinds, [
      'ConversationStateUpdateEvent', 'ConversationStateUpdateEvent', 'StreamingDeltaEvent', 'MessageEvent',
      'StreamingDeltaEvent', 'ConversationStateUpdateEvent', 'ConversationStateUpdateEvent',
    ])
    assert.match(frames.at(-1) ?? '', '"key":"full_state"')
    assert.is((await eventsOf(conversation.events)).length, 3)
  })
})

test('the text of a turn that ends without a message is not told to readers that join later', async () => {
  await withConversation(async (conversation, world) => {
    world.scripts.push((turn) => {
      turn.delta({ content: 'lost' })
      return finished
    })
    await conversation.run()
    await ended(conversation)
    const frames: string[] = []
    const sink = { write: (json: Buffer) => frames.push(json.toString()) > 0, end: () => undefined }
    conversation.join({ from: 'now', encode: (json) => json, sink })
    assert.is(frames.length, 1)
  })
})

test('no delta is older than the events before it, also when the clock goes back', async () => {
  await withConversation(async (conversation, world) => {
    const frames: string[] = []
    const sink = { write: (json: Buffer) => frames.push(json.toString()) > 0, end: () => undefined }
    world.scripts.push((turn) => {
      world.time.now -= 60_000
      turn.record(say('one'))
      turn.delta({ content: 'two' })
      turn.record(say('two'))
      turn.delta({ content: 'three' })
      return finished
    })
    conversation.join({ from: 'now', encode: (json) => json, sink })
    await conversation.send(userText('a'), true)
    await ended(conversation)
    const times = frames.slice(1).map((frame) => String(objectOf(JSON.parse(frame))['timestamp']))
    assert.ok(frames.filter((frame) => frame.includes('StreamingDeltaEvent')).length === 2)
    assert.equal(times, [...times].sort())
  })
})

test('a secret in deltas is masked, whole or cut into pieces', async () => {
  await withConversation(async (conversation, world) => {
    const frames: string[] = []
    conversation.join({
      from: 'now',
      encode: (json) => json,
      sink: { write: (json) => frames.push(json.toString()) > 0, end: () => undefined },
    })
    world.scripts.push((turn) => {
      for (const content of ['whole SECRET-VALUE, cut SEC', 'RET', '-VALUE, over']) turn.delta({ content })
      turn.delta({ reasoning_content: 'thought SECRET-' })
      turn.delta({ reasoning_content: 'VALUE' })
      return finished
    })
    await conversation.run()
    await ended(conversation)
    const deltas = frames.filter((frame) => frame.includes('StreamingDeltaEvent'))
    const texts = (field: string): string =>
      deltas.map((frame) => String(objectOf(JSON.parse(frame))[field] ?? '')).join('')
    assert.is(texts('content'), 'whole <secret-hidden>, cut <secret-hidden>, over')
    assert.is(texts('reasoning_content'), 'thought <secret-hidden>')
  })
})

test('a new policy reaches the agent that runs, and a new model', async () => {
  await withConversation(async (conversation, world) => {
    await conversation.setConfirmationPolicy({ kind: 'AlwaysConfirm' })
    assert.is(world.agents.length, 0)
    world.scripts.push(worksOn)
    await conversation.run()
    await conversation.setConfirmationPolicy({ kind: 'NeverConfirm' })
    await conversation.switches.model('m2', new AbortController().signal)
    assert.equal(world.agents[0]?.policies, [{ kind: 'NeverConfirm' }])
    assert.equal(world.agents[0]?.models, ['m2'])
    assert.equal(conversation.state.agent_state, { acp_current_model_id: 'm2' })
    await conversation.interrupt()
  })
})

test('a model that the agent refuses is told to the caller', async () => {
  await withConversation(async (conversation, world) => {
    await conversation.run()
    await ended(conversation)
    for (const agent of world.agents) agent.switchModel = () => Promise.reject(new Error('unknown model'))
    assert.is(await failureOf(conversation.switches.model('m2', new AbortController().signal)), 'unknown model')
  })
})

test('an agent that cannot be made leaves the conversation as it was, with its message', async () => {
  await withWorld(async (world) => {
    let problem: Error | undefined = new Error('no command')
    const agentKind: typeof world.deps.agentKind = async (settings) => {
      const kind = await world.deps.agentKind(settings)
      return { ...kind, create: (host) => {
        if (problem !== undefined) throw problem
        return kind.create(host)
      } }
    }
    const directory = await makeConversation(world)
    const conversation = await openTestConversation({ ...world, deps: { ...world.deps, agentKind } }, directory)
    assert.is(await failureOf(conversation.send(userText('hi'), true)), 'no command')
    assert.is(conversation.state.execution_status, 'idle')
    problem = undefined
    await conversation.run()
    await ended(conversation)
    assert.equal(world.agents[0]?.served, [['hi']])
    await conversation.close()
  })
})

test('what an agent reports between two turns is recorded as well', async () => {
  await withConversation(async (conversation, world) => {
    let lent: AgentHost | undefined
    world.scripts.push((_turn, host) => {
      lent = host
      return finished
    })
    await conversation.run()
    await ended(conversation)
    lent?.state({ acp_waiting_for_slot: false })
    await until(() => Object.hasOwn(conversation.state.agent_state, 'acp_waiting_for_slot'))
    assert.equal(conversation.state.agent_state, { acp_waiting_for_slot: false })
  })
})

test('a message that is damaged on disk is left out of its turn', async () => {
  await withConversation(async (conversation, world) => {
    await conversation.send(userText('one'), false)
    const read = conversation.events.read.bind(conversation.events)
    conversation.events.read = (number) => (number === 0 ? Promise.resolve(undefined) : read(number))
    await conversation.send(userText('two'), true)
    await ended(conversation)
    assert.equal(world.agents[0]?.served, [['two']])
    assert.equal(conversation.state.unserved, [])
  })
})

test('what is no message, though the state says so, is left out of its turn', async () => {
  await withConversation(async (conversation, world) => {
    await conversation.send(userText('one'), false)
    conversation.events.read = (number) => {
      return Buffer.from(
        `{"kind":"PauseEvent","id":"${conversation.state.unserved[number] ?? ''}","timestamp":"t","source":"user"}`,
      )
    }
    await conversation.run()
    await ended(conversation)
    assert.equal(world.agents[0]?.served, [[]])
  })
})

test.run()
