/**
 * A server that is killed at any line of its log: every action has exactly one answer afterwards, nothing is done
 * twice, and the next run goes on to the end. The log of a whole run is cut behind each of its lines and opened again.
 */
import * as assert from 'uvu/assert'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ModelAnswer, ModelClient, ModelRequest } from '../../../src/parts/builtin/llm/model.ts'
import type { Conversation } from '../../../src/conversation/conversation.ts'
import type { Event } from '../../../src/schema/generated/events.ts'
import { withBuiltIn, type BuiltIn } from '../../support/built-in.ts'
import { ended, eventsOf, openTestConversation, userText } from '../../support/conversation.ts'
import { calls, text, type ModelStep } from '../../support/script-model.ts'
import { suite } from '../../support/suite.ts'

const test = suite('agents/builtin/kills')

const steps: readonly ModelStep[] = [
  calls([['terminal', { command: 'a' }], ['terminal', { command: 'b' }]], 'two'),
  calls([['fly', {}], ['terminal', { command: 'c' }]]),
  calls([['terminal', { command: 'd' }]]),
]

/**
 * Its next step follows from the number of results it is told, as with a real model; each answer has ids of its own.
 */
function modelOfHistory(): ModelClient & { readonly requests: ModelRequest[] } {
  const requests: ModelRequest[] = []
  return {
    model: 'test/history',
    takesImages: undefined,
    contextWindow: undefined,
    requests,
    async complete(request): Promise<ModelAnswer> {
      requests.push(request)
      const answers = request.messages.filter(({ message }) => message.tool_calls !== undefined)
      const step = steps[answers.length] ?? text('all done')
      const state = { part: requests.length }
      return { ...(await step(request, requests.length)), id: `response-${requests.length}`, state }
    },
  }
}

interface Cut {
  readonly events: readonly Event[]
  /** The commands that ran since it was opened. */
  readonly doneAfter: () => readonly string[]
  readonly conversation: Conversation
}

/** Opens the log cut behind each line after the first one of the user, runs the rest and hands it to `check`. */
async function atEveryLine(
  { conversation, world, done }: BuiltIn<ModelClient>, check: (cut: Cut) => Promise<void>,
): Promise<number> {
  const log = await readFile(join(world.folder, conversation.id, 'events.jsonl'), 'utf8')
  const lines = log.split('\n').slice(0, -1)
  const from = lines.findIndex((line) => line.includes('"value":"running"'))
  for (let count = from; count <= lines.length; count++) {
    const directory = join(world.folder, `cut-${count}`)
    await mkdir(directory)
    await writeFile(join(directory, 'events.jsonl'), lines.slice(0, count).map((line) => `${line}\n`).join(''))
    const again = await openTestConversation(world, directory)
    try {
      const events = await eventsOf(again.events)
      const before = done.length
      await check({ events, conversation: again, doneAfter: () => done.slice(before) })
    } finally {
      await again.close()
    }
  }
  return lines.length - from
}

function commandsOf(events: readonly Event[]): string[] {
  return events.flatMap((event) => {
    return event.kind === 'ActionEvent' && event.action?.kind === 'TerminalAction' ? [event.action.command] : []
  })
}

/** How often each action that can be executed was answered. */
function answerCounts(events: readonly Event[]): number[] {
  return events.flatMap((event) => {
    if (event.kind !== 'ActionEvent') return []
    return [
      events.filter((answer) => {
        return 'tool_call_id' in answer && answer.kind !== 'ActionEvent' && answer.tool_call_id === event.tool_call_id
      }).length,
    ]
  })
}

test(
  'a run that is cut at any line is closed soundly, goes on, and does nothing that was begun a second time',
  async () => {
    const model = modelOfHistory()
    await withBuiltIn({ model }, async (parts) => {
      await parts.conversation.send(userText('hi'), true)
      await ended(parts.conversation)
      assert.equal(parts.done, ['a', 'b', 'c', 'd'])
      const cuts = await atEveryLine(parts, async ({ events, conversation, doneAfter }) => {
        const open = events.filter(({ kind }) => kind === 'ActionEvent').length
        const bad = events.filter((event) => event.kind === 'ActionEvent' && event.action === null)
        const counts = answerCounts(events)
        assert.is(counts.length, open)
        // The error of a call that cannot be executed may be missing: nothing waits for it.
        assert.ok(counts.filter((count) => count !== 1).length <= (bad.length === 0 ? 0 : 1), JSON.stringify(counts))
        const begun = commandsOf(events)
        if (conversation.state.execution_status !== 'finished') await conversation.run()
        await ended(conversation)
        assert.is(conversation.state.execution_status, 'finished')
        const all = await eventsOf(conversation.events)
        assert.ok(answerCounts(all).every((count) => count <= 1))
        // A command that was begun is not begun again: each command that ran after the cut belongs to an action after
        // it.
        assert.equal(doneAfter(), commandsOf(all.slice(events.length)))
        assert.equal(begun.filter((command) => doneAfter().includes(command)), [])
      })
      assert.ok(cuts > 20)
      for (const { messages } of model.requests) assert.is.not(messages.at(-1)?.message.role, 'assistant')
    })
  },
)

test.run()
