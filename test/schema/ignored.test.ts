/** The members that a request has in vain: found where they stand, bounded, and nothing else. */
import * as assert from 'uvu/assert'
import { ignoredMembers } from '../../src/schema/ignored.ts'
import { suite } from '../support/suite.ts'

const test = suite('schema/ignored')
const llm = { model: 'a/b', modle: 'a/c' }

const cases: readonly [what: string, name: string, value: unknown, found: string[]][] = [
  ['nothing in what is all known', 'StartConversationRequest',
    { agent: { kind: 'Agent', llm: { model: 'a/b' } }, tags: { a: 'b' } }, []],
  ['members of the request', 'StartConversationRequest', { hook_confg: {}, autotitel: true },
    ['hook_confg', 'autotitel']],
  ['members of the variant that the tag selects', 'StartConversationRequest',
    { agent: { kind: 'Agent', llm, acp_command: ['x'] } }, ['agent.llm.modle', 'agent.acp_command']],
  ['members in lists', 'SendMessageRequest', { role: 'user', content: [{ type: 'text', text: 'a', colour: 'red' }] },
    ['content.0.colour']],
  ['members in maps', 'UpdateSecretsRequest', { secrets: { A: { kind: 'StaticSecret', value: 'v', vaule: 'w' } } },
    ['secrets.A.vaule']],
  ['members of an open object that is read as a type later', 'SettingsPatch',
    { agent_settings_diff: { llm, acp_sever: 'codex', acp_model: 'x' } },
    ['agent_settings_diff.llm.modle', 'agent_settings_diff.acp_sever']],
  ['nothing in an object that is anything', 'SettingsPatch', { misc_settings_diff: { a: { b: 1 } } }, []],
  ['names of every object', 'NavigateRequest', { event_id: null, constructor: 1, ['__proto__']: 2 },
    ['constructor', '__proto__']],
  ['members that nothing acts on, unless they have their default', 'StartConversationRequest',
    {
      agent: {
        kind: 'Agent', system_prompt_filename: 'x.j2',
        llm: { model: 'a/b', native_tool_calling: false, modify_params: true },
      },
    },
    ['agent.system_prompt_filename', 'agent.llm.native_tool_calling']],
  ['nothing in a default that is sent back', 'StartConversationRequest', { plugins: null, agent: null }, []],
  ['nothing where there is nothing', 'StartConversationRequest', {}, []],
]
for (const [what, name, value, found] of cases) {
  test(`finds ${what}`, () => assert.equal(ignoredMembers({ name }, value, 20), found))
}

test('is bounded in names and in steps', () => {
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`x${index}`, 1]))
  assert.is(ignoredMembers({ name: 'StartConversationRequest' }, many, 20).length, 20)
  let reads = 0
  const part = { type: 'text', get text() { reads++; return 'a' } }
  const content = Array.from({ length: 100_000 }, () => part)
  ignoredMembers({ name: 'SendMessageRequest' }, { role: 'user', content }, 20)
  assert.ok(reads <= 2000)
})

test.run()
