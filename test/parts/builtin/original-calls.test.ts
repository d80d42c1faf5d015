/** Whether the call that runs is the model's call, while the recorded and shown call is masked. */
import * as assert from 'uvu/assert'
import { originalOf, sealAction } from '../../../src/parts/builtin/recording/original-calls.ts'
import { maskAction, maskCall, maskMessage } from '../../../src/parts/builtin/recording/masked.ts'
import type { MaskingWays } from '../../../src/base/mask-turns.ts'
import { toAction } from '../../../src/schema/generated/actions.ts'
import { toMessage } from '../../../src/schema/generated/values.ts'
import { eventsOf, ended, textOf, userText } from '../../support/conversation.ts'
import { withBuiltIn } from '../../support/built-in.ts'
import { testCipher } from '../../support/cipher.ts'
import { calls, scriptModel } from '../../support/script-model.ts'
import { suite } from '../../support/suite.ts'

const test = suite('agents/builtin/original-calls')

const always = { confirmation_policy: { kind: 'AlwaysConfirm' } }
const command = 'echo SECRET > file'
const write = calls([['terminal', { command }]])
/** As the hosts of these tests do. */
const mask = (text: string): string => text.replaceAll('SECRET', '<secret-hidden>')
/** For texts that are masked at once. */
const waysOf = (hide: (text: string) => string): MaskingWays => ({
  mask: hide, stream: () => ({ isOutdated: false, push: hide, end: () => '' }),
})

test('a command runs as the model wrote it; the history and the model see it masked', async () => {
  await withBuiltIn({ model: scriptModel([write]) }, async ({ conversation, done, model }) => {
    await conversation.send(userText('hi'), true)
    await ended(conversation)
    assert.equal(done, [command])
    const recorded = JSON.stringify(await eventsOf(conversation.events))
    assert.not.match(recorded, 'SECRET')
    assert.match(recorded, 'echo <secret-hidden> > file')
    const told = model.requests[1]?.messages
      .map(({ message }) => `${textOf(message)} ${JSON.stringify(message.tool_calls)}`)
      .join() ??
      ''
    assert.match(told, 'echo <secret-hidden> > file')
    assert.not.match(told, 'SECRET')
  })
})

test('one that waits for the user runs as the model wrote it, also after a restart', async () => {
  for (const isRestarted of [false, true]) {
    await withBuiltIn({ model: scriptModel([write]), changes: always }, async ({ conversation, done, reopen }) => {
      await conversation.send(userText('hi'), true)
      await ended(conversation)
      const now = isRestarted ? await reopen() : conversation
      await now.respond({ accept: true, reason: '' })
      await ended(now)
      assert.is(done.at(-1), command)
    })
  }
})

test('one whose sealed form does not open any more is not executed, and the model is told', async () => {
  const ciphers = [testCipher(1), testCipher(2)]
  await withBuiltIn(
    { model: scriptModel([write]), changes: always, ciphers },
    async ({ conversation, done, reopen }) => {
      await conversation.send(userText('hi'), true)
      await ended(conversation)
      const again = await reopen()
      await again.respond({ accept: true, reason: '' })
      await ended(again)
      assert.equal(done.filter((word) => word !== 'closed'), [])
      assert.match(
        JSON.stringify(await eventsOf(again.events)),
        'The action was not executed: the history has it with secrets masked',
      )
    },
  )
})

test('a name that no tool has is masked in what is said of it', async () => {
  await withBuiltIn({ model: scriptModel([calls([['call_SECRET', {}]])]) }, async ({ conversation }) => {
    await conversation.send(userText('hi'), true)
    await ended(conversation)
    const recorded = JSON.stringify(await eventsOf(conversation.events))
    assert.not.match(recorded, 'SECRET')
    assert.match(recorded, "Tool 'call_<secret-hidden>' not found")
  })
})

const action = toAction({ kind: 'TerminalAction', command })

test('an action is kept where its record says something else, or might', async () => {
  const cipher = testCipher()
  const kept = sealAction('a', action, await maskAction(action, waysOf(mask)), cipher)
  assert.not.match(String(kept), 'SECRET')
  assert.equal(originalOf('a', await maskAction(action, waysOf(mask)), kept, cipher), action)
  assert.is(originalOf('b', await maskAction(action, waysOf(mask)), kept, cipher), undefined)
  const marked = toAction({ kind: 'TerminalAction', command: 'echo "<secret-hidden>"' })
  assert.equal(originalOf('a', marked, sealAction('a', marked, marked, cipher), cipher), marked)
  const plain = toAction({ kind: 'TerminalAction', command: 'ls' })
  assert.is(sealAction('a', plain, plain, cipher), undefined)
  assert.is(originalOf('a', plain, undefined, cipher), plain)
})

test('an action is not executed from a record with a mark in it', async () => {
  assert.is(originalOf('a', await maskAction(action, waysOf(mask)), undefined, testCipher()), undefined)
})

test('a masked action fits its schema, whatever the secret is', async () => {
  const hide = (...secrets: readonly string[]) => (text: string): string =>
    secrets.reduce((left, one) => left.replaceAll(one, '<secret-hidden>'), text)
  const edit = toAction({ kind: 'FileEditorAction', command: 'create', path: '/w/a', file_text: 'create 12345678' })
  assert.equal(await maskAction(edit, waysOf(hide('12345678'))), { ...edit, file_text: 'create <secret-hidden>' })
  assert.equal(await maskAction(edit, waysOf(hide('create'))), { ...edit, file_text: '<secret-hidden> 12345678' })
  const timed = toAction({ kind: 'TerminalAction', command: 'sleep 12345678', timeout: 12345678 })
  assert.equal(await maskAction(timed, waysOf(hide('12345678'))), {
    ...timed, command: 'sleep <secret-hidden>', timeout: 0,
  })
  const tool = toAction({ kind: 'MCPToolAction', data: { pin: 12345678, 12345678: true } })
  assert.equal(await maskAction(tool, waysOf(hide('12345678'))), {
    ...tool, data: { pin: '<secret-hidden>', '<secret-hidden>': true },
  })
  const message = toMessage({ role: 'assistant', content: 'assistant SECRET' })
  assert.is(textOf(await maskMessage(message, waysOf(hide('assistant', 'SECRET')))), '<secret-hidden> <secret-hidden>')
})

test('the arguments of a masked call are JSON still', async () => {
  const call = { id: '1', name: 'x', origin: 'completion', arguments: '{"pin": 12345678, "text": "SECRET"}' } as const
  const masked = await maskCall(call, waysOf((text) => mask(text).replaceAll('12345678', '<secret-hidden>')))
  assert.equal(JSON.parse(masked.arguments), { pin: '<secret-hidden>', text: '<secret-hidden>' })
  assert.is((await maskCall({ ...call, arguments: '{"a" :1}' }, waysOf(mask))).arguments, '{"a" :1}')
})

test.run()
