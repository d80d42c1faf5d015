/**
 * Which calls that ran should have been asked about: the judgement as a table, and over recorded exchanges of eight
 * agents.
 */
import { readdirSync, readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { newToolCall, type ToolCall } from '../../../src/agents/acp/calls/tool-calls.ts'
import { shapeOf } from '../../../src/agents/acp/calls/shape.ts'
import { hasRun, isLetThrough, judgeRan, type RanCall, type Verdict } from '../../../src/agents/acp/calls/unasked.ts'
import { providerRules } from '../../../src/agents/acp/session/modes.ts'
import { builtInProviders } from '../../../src/settings/providers-table.ts'
import { suite } from '../../support/suite.ts'
import { replay } from './replay.ts'
import { announced, watch } from './watched-turn.ts'

const test = suite('acp unasked')
const diff = { type: 'diff', path: 'a', newText: 'b' }

function ran(call: Partial<ToolCall>, more: Partial<RanCall> = {}): RanCall {
  const whole = { ...newToolCall, status: 'completed', ...call }
  const shape = shapeOf(whole, { workingDir: '/repo', titleIsCommand: false })
  return { id: 't1', call: whole, shape, permission: 'none', ...more }
}

const judgements: readonly (readonly [string, Partial<ToolCall>, Verdict])[] = [
  ['reading', { kind: 'read', input: { path: 'a' } }, 'fine'],
  ['searching', { kind: 'search', input: { pattern: 'a' } }, 'fine'],
  ['thinking', { kind: 'think' }, 'fine'],
  ['a change of mode', { kind: 'switch_mode' }, 'fine'],
  ['a reading that tells a diff', { kind: 'read', content: [diff] }, 'unasked'],
  ['the viewer of a file that calls its verb a command', { kind: 'read', input: { command: 'view', path: 'a' } },
    'fine'],
  ['a command', { kind: 'execute', input: { command: 'ls' } }, 'unasked'],
  ['a command that is not told', { kind: 'execute' }, 'unasked'],
  ['an edit', { kind: 'edit' }, 'unasked'],
  ['a removal', { kind: 'delete' }, 'unasked'],
  ['a move', { kind: 'move' }, 'unasked'],
  ['fetching an address', { kind: 'fetch', input: { url: 'http://a/?q=secret' } }, 'unasked'],
  ['another kind with a diff', { kind: 'other', content: [diff] }, 'unasked'],
  ['another kind with a command', { kind: 'other', input: { command: 'ls' } }, 'unasked'],
  ['another kind with commands', { kind: 'shell', input: { commands: ['ls'] } }, 'unasked'],
  ['another kind with a path and a text', { kind: 'other', input: { path: 'a', content: 'b' } }, 'unasked'],
  ['a patch as a member', { kind: 'other', input: { input: '*** Begin Patch\n' } }, 'unasked'],
  ['a patch as the input', { kind: 'other', input: 'diff --git a/a b/a' }, 'unasked'],
  ['a list of tasks', { kind: 'other', input: { todos: [{ content: 'a', status: 'pending' }] } }, 'fine'],
  ['a list of tasks that also has a command',
    { kind: 'other', input: { todos: [{ content: 'a', status: 'pending' }], command: 'ls' } }, 'unasked'],
  ['a tool of an MCP server', { kind: 'other', input: { city: 'Bern' } }, 'unclear'],
  ['a tool without an input', { kind: 'other' }, 'unclear'],
  ['a kind that ACP has not', { kind: 'teleport', input: 'a' }, 'unclear'],
]

for (const [name, call, verdict] of judgements) {
  test(`${name} that nobody was asked about: ${verdict}`, () => assert.is(judgeRan(ran(call), []), verdict))
  test(`${name} that was allowed: fine`, () => assert.is(judgeRan(ran(call, { permission: 'allowed' }), []), 'fine'))
}

test('what was allowed with another input was not asked about, also where the mode lets it through', () => {
  const changed = ran({ kind: 'execute', input: { command: 'ls' } }, { permission: 'changed' })
  assert.is(judgeRan(changed, ['*']), 'unasked')
})

test('what the asking mode lets through is told apart', () => {
  const command = (text: string): RanCall => ran({ kind: 'execute', input: { command: text } })
  assert.is(judgeRan(command('ls -la'), ['ls']), 'let-through')
  assert.is(judgeRan(command('touch a'), ['ls']), 'unasked')
  assert.is(judgeRan(command('touch a'), ['*']), 'let-through')
  assert.is(judgeRan(ran({ kind: 'edit' }), ['*']), 'unasked')
})

const runsUnasked = ['ls', 'cat', 'git status', 'find', 'sort', 'echo', 'cd', 'sed', 'awk', 'rg', 'tree']
for (const [command, isLet] of [
  ['ls', true], ['ls -la /', true], ['  ls', true], ['ls | cat && git status', true], ['cat a; ls', true],
  ['echo "a > b; rm c"', true],
  ["echo '$(rm a)'", true], ['find . -name a', true], ['sort a', true], ['cat a || ls', true], ['ls 2>/dev/null', true],
  ['ls 2>&1 | cat', true], ['cat < a', true], ['ls > /dev/null', true],
  ["sed -n '1,2p' a", true], ['sed s/a/b/g a', true], ["awk '{print $1}' a", true],
  ['', false], ['lsof', false], ['git', false], ['git push', false], ['git status-not', false], ['ls && rm a', false],
  ['ls | sh', false],
  ['echo a > b', false], ['echo a >> b', false], ['cat <> a', false], ['cat << a', false], ['ls >/dev/nullx', false],
  ['ls 2>/dev/null/../a', false], ['echo $(rm a)', false], ['echo "$(rm a)"', false],
  ['echo `rm a`', false], ['echo "`rm a`"', false], ['ls & rm a', false], ['ls &', false], ['ls\nrm a', false],
  ['ls\rrm a', false],
  ['ls \\; rm a', false], ['find . -delete', false], ['find . -exec rm {} +', false], ['find . -fprint a', false],
  ['sort -o a b', false],
  ['sort --output=a b', false], ['A=b ls', false], ['echo ${A:=b}', false], ['ls ;; rm', false],
  ['echo "a\\" ; rm b"', false],
  ["sed '1w b' a", false], ['sed s/a/b/w a', false], ["sed -n '1e rm b' a", false], ['sed -i s/a/b/ a', false],
  ["awk '{print > \"b\"}' a", false], ["awk 'BEGIN{system(1)}'", false], ['rg --pre=rm a', false],
  ['find . "-delete"', false],
  ['tree -o a', false], ["echo '${A:=b}'", true],
  ['cat "a" <(rm b)', false], [`ls ${'a'.repeat(2000)}`, false],
] as const) {
  test(`let through: ${JSON.stringify(command.slice(0, 40))} is ${isLet}`, () => {
    assert.is(isLetThrough(command, runsUnasked), isLet)
  })
}

test('nothing is let through by an empty list, everything by a star', () => {
  assert.is(isLetThrough('ls', []), false)
  assert.is(isLetThrough('rm -rf / &', ['*']), true)
})

test('a call ran when it ended well or has something of a command to show', () => {
  const has = (call: Partial<ToolCall>): boolean => hasRun({ ...newToolCall, ...call })
  assert.is(has({ status: 'completed' }), true)
  assert.is(has({ status: 'failed', exitCode: 3 }), true)
  assert.is(has({ status: 'failed', terminalOutput: 'a' }), true)
  assert.is(has({ status: 'in_progress', rawOutput: 'a' }), true)
  assert.is(has({ status: 'in_progress' }), false)
  assert.is(has({ status: 'failed' }), false)
  assert.is(has({ status: 'failed', rawOutput: 'The user said no' }), false)
})

test('modes more open than the asking one let nothing through, and a star counts for the measured program only', () => {
  const modes = { asking: 'ask', open: 'free', moreOpen: ['free'], unasked: ['*', 'ls'] }
  assert.equal(providerRules(modes, true).runsUnasked('ask'), ['*', 'ls'])
  assert.equal(providerRules(modes, false).runsUnasked('ask'), ['ls'])
  assert.equal(providerRules(modes, true).runsUnasked('free'), [])
  assert.equal(providerRules(modes, false).runsUnasked('other'), [])
})

test('a question covers what it was about, and a call that ran with another input was not asked about', () => {
  const heard: RanCall['permission'][] = []
  const { events, call } = watch({ ran: ({ permission }) => void heard.push(permission) })
  call({ ...announced, rawInput: { command: 'ls' } })
  events.asks({ toolCallId: 't1', rawInput: { command: 'ls' } }, false)
  events.allowed('t1')
  call({ rawInput: { command: 'rm -rf /' } })
  call({ status: 'completed' })
  assert.equal(heard, ['changed'])
})

test('a question that tells nothing is about the calls that were announced, and not about later ones', () => {
  const heard: string[] = []
  const { events, call } = watch({ ran: ({ id, permission }) => void heard.push(`${id} ${permission}`) })
  for (const round of ['1', '2']) {
    call({ ...announced, toolCallId: round, rawInput: { command: `ls ${round}` } })
    for (const { id } of events.asks({ toolCallId: 'confirm', title: 'Confirm', kind: 'other' }, false)) {
      events.allowed(id)
    }
    call({ ...announced, toolCallId: `${round} later`, rawInput: { command: 'rm' } })
    call({ toolCallId: round, status: 'completed' })
    call({ toolCallId: `${round} later`, status: 'completed' })
  }
  assert.equal(heard, ['1 allowed', '1 later none', '2 allowed', '2 later none'])
})

test('what was refused and ran all the same was not allowed by anything', () => {
  const heard: RanCall[] = []
  const { events, call } = watch({ ran: (one) => void heard.push(one) })
  const [asked] = events.asks({ toolCallId: 't1', kind: 'execute', rawInput: { command: 'ls' } }, false)
  events.rejects(asked?.id ?? '', 'No')
  call({ status: 'failed' })
  assert.is(heard.length, 0)
  call({ status: 'completed' })
  assert.equal(heard.map(({ permission, shape }) => [permission, shape.as]), [['refused', 'command']])
  assert.equal(heard.map((one) => judgeRan(one, ['*'])), ['unasked'])
  assert.is(judgeRan(ran({ kind: 'read' }, { permission: 'refused' }), []), 'unasked', 'though it needs no question')
})

/**
 * The recorded exchanges in which a call ran that nobody was asked about, with these calls. In no other exchange did
 * that happen.
 */
const unaskedIn: Readonly<Record<string, readonly string[]>> = {
  // In its mode workspace-write, which no policy that asks uses.
  'codex-write': ['edit: unasked'],
}

for (const file of readdirSync(new URL('../../../../test/fixtures/acp-transcripts/', import.meta.url))) {
  const name = file.replace('.jsonl', '')
  test(`${name}: runs ${unaskedIn[name]?.join() ?? 'nothing'} unasked`, () => {
    const provider = builtInProviders.find((one) => one.name.startsWith(name.split('-')[0] ?? ''))
    const rules = provider?.modes ? providerRules(provider.modes, true) : undefined
    const mode = modeIn(file)
    const found = new Map<string, string>()
    replay(name, (call) => {
      const verdict = judgeRan(call, rules?.runsUnasked(mode) ?? [])
      if (verdict !== 'fine') found.set(call.id, `${call.call.kind}: ${verdict}`)
    })
    assert.equal([...found.values()], unaskedIn[name] ?? [])
  })
}

/** The mode that the client of the exchange has set last. */
function modeIn(file: string): string | undefined {
  const text = readFileSync(new URL(`../../../../test/fixtures/acp-transcripts/${file}`, import.meta.url), 'utf8')
  return [...text.matchAll(/"method":"session\/set_mode","params":\{[^}]*"modeId":"([^"]+)"/g)].at(-1)?.[1]
}

test.run()
