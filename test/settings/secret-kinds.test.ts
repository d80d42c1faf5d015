/** Which members take the same sealed token, and which do not. */
import { randomBytes } from 'node:crypto'
import * as assert from 'uvu/assert'
import { createCipher } from '../../src/settings/cipher.ts'
import { openOfKind } from '../../src/settings/secret-kinds.ts'
import { suite } from '../support/suite.ts'

const test = suite('settings/secret-kinds')

const cipher = createCipher({ keys: [Buffer.alloc(32, 1)], random: randomBytes })
const other = createCipher({ keys: [Buffer.alloc(32, 2)], random: randomBytes })

test('a token opens in each member of its kind, and in no other', () => {
  for (const [from, to, opens] of [
    ['llm.api_key', 'llm.api_key', true],
    ['llm.api_key', 'condenser.llm.api_key', true],
    ['condenser.llm.api_key', 'llm.api_key', true],
    ['llm.extra_headers.Authorization', 'condenser.llm.extra_headers.Authorization', true],
    ['verification.critic_api_key', 'critic.api_key', true],
    ['mcp_config.*.headers.Authorization', 'mcp_config.*.headers.Authorization', true],
    ['llm.api_key', 'llm.aws_session_token', false],
    ['llm.api_key', 'critic.api_key', false],
    ['llm.api_key', 'mcp_config.*.headers.Authorization', false],
    ['mcp_config.*.env.llm.api_key', 'llm.api_key', false],
    ['agent_context.secrets.A', 'llm.api_key', false],
  ] as const) {
    assert.is(openOfKind(cipher.seal('value', from), to, cipher), opens ? 'value' : undefined, `${from} in ${to}`)
    assert.is(openOfKind(other.seal('value', from), to, cipher), undefined)
  }
})

test.run()
