/**
 * Recorded exchanges in which the model's API refused: each ends as an error with its code, in any wording of the
 * agent.
 */
import { readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { failureOf, type AcpFailure } from '../../../src/agents/acp/session/failure.ts'
import { quirksOf } from '../../../src/agents/acp/session/quirks.ts'
import { endOf, mergeSigns, type FailureSigns } from '../../../src/agents/acp/turn/stop-reason.ts'
import { memberAt, numberOf, objectOf, textOf, type Fields } from '../../../src/base/fields.ts'
import { RpcError } from '../../../src/rpc/errors.ts'
import { suite } from '../../support/suite.ts'

const test = suite('acp recorded failures')
const folder = new URL('../../../../test/fixtures/acp-transcripts/', import.meta.url)

function messagesOf(name: string): readonly Fields[] {
  const lines = readFileSync(new URL(`${name}.jsonl`, folder), 'utf8').trimEnd().split('\n')
  return lines.map((line) => objectOf(memberAt(JSON.parse(line), 'msg')))
}

/** How the last prompt of an exchange ended. */
function failureIn(name: string, provider: string): AcpFailure | undefined {
  const quirks = quirksOf(provider)
  const messages = messagesOf(name)
  const prompt = messages.findLast(({ method }) => method === 'session/prompt')
  const updates = messages.map(({ params }) => objectOf(memberAt(params, 'update')))
  const answer = objectOf(messages.find(({ id, method }) => method === undefined && id === prompt?.['id']))
  if (answer['error'] !== undefined) {
    const { code, message, data } = objectOf(answer['error'])
    return failureOf(
      new RpcError({ code: numberOf(code) ?? 0, message: textOf(message) ?? '', data }),
      'ACPPromptError',
      quirks.loginRefused,
    )
  }
  const signs = updates.reduce<FailureSigns>((before, update) => mergeSigns(before, update, quirks), {})
  const texts = updates.filter(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk').map(({ content }) => {
    return textOf(memberAt(content, 'text')) ?? ''
  })
  return endOf(answer['result'], { hasDenied: false, signs, quirks, lastText: texts.join('') })
}

const rows: readonly (readonly [name: string, provider: string, code: string | undefined, detail: RegExp])[] = [
  ['codex-fail401', 'codex', 'ACPAuthRequired', /./],
  ['gemini-fail401', 'gemini-cli', 'ACPAuthRequired', /401/],
  ['copilot-fail400', 'copilot', 'ACPPromptError', /^Error: 400 The script says so$/],
  ['copilot-fail401', 'copilot', 'ACPAuthRequired', /^Error: Authentication failed with provider/],
  ['copilot-fail500', 'copilot', 'ACPPromptError', /^Error: Failed to get response from the AI model; retried 5 times/],
  ['qwen-fail401', 'qwen-code', 'ACPAuthRequired', /401 The script says so/],
  // The stand-in's words name no login, and these agents pass on nothing but the words.
  ['opencode-fail401', 'opencode', 'ACPPromptError', /The script says so/],
  ['cline-fail401', 'cline', 'ACPPromptError', /The script says so/],
  ['openhands-fail401', 'openhands', 'ACPPromptError',
    /litellm\.BadRequestError: OpenAIException - The script says so/],
  ['openhands-nokey', 'openhands', 'ACPAuthRequired', /Missing credentials\. Please pass an `api_key`/],
  // An exchange that went well is no failure.
  ['copilot-output', 'copilot', undefined, /^$/],
  ['codex-output', 'codex', undefined, /^$/],
]

for (const [name, provider, code, detail] of rows) {
  test(`${name}: ${code ?? 'no failure'}`, () => {
    const failure = failureIn(name, provider)
    assert.is(failure?.code, code)
    assert.match(failure?.message ?? '', detail)
  })
}

const silent: readonly (readonly [name: string, provider: string, stderr: string])[] = [
  ['qwen-fail500', 'qwen-code', '[perf] acp agent event loop stall: max=2382.364671ms'],
  ['cline-fail500', 'cline', '[acp] starting ACP mode over stdio…'],
]

for (const [name, provider, stderr] of silent) {
  test(`${name}: not a word for a minute, and nothing on stderr that tells of trouble`, () => {
    const messages = messagesOf(name)
    const since = messages.slice(messages.findIndex(({ method }) => method === 'session/prompt') + 1)
    const said = since.map(({ params }) => objectOf(memberAt(params, 'update'))['sessionUpdate']).filter((kind) => {
      return kind !== undefined
    })
    assert.equal(said.filter((kind) => kind !== 'available_commands_update'), [])
    assert.ok(quirksOf(provider).idleTalk?.test(stderr))
  })
}

test('the same exchange with an agent of no table ends as it says', () => {
  assert.is(failureIn('copilot-fail500', 'custom'), undefined)
})

test.run()
