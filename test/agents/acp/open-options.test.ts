/** The options by which agents stop asking, told by their names. */
import * as assert from 'uvu/assert'
import { closedValue, isOpenOption } from '../../../src/agents/acp/session/open-options.ts'
import { suite } from '../../support/suite.ts'

const test = suite('acp open options')

const onOff = ['on', 'off']
const rows: readonly (readonly [
  id: string, category: string | undefined, values: readonly string[], open: readonly string[],
])[] = [
  ['allow_all', 'permissions', onOff, ['on']],
  ['auto_approve', undefined, ['true', 'false'], ['true']],
  ['approval', 'other', ['ask', 'auto-approve', 'auto'], ['auto-approve', 'auto']],
  ['sandbox', undefined, ['danger-full-access', 'read-only'], ['danger-full-access']],
  // Named so, and no switch.
  ['danger_level', undefined, ['low', 'high'], []],
  // Of the model: Claude, Codex.
  ['effort', 'thought_level', ['auto', 'high'], []],
  ['fast-mode', 'model_config', onOff, []],
  ['ultracode', 'model_config', onOff, []],
  ['collaboration_mode', 'collaboration_mode', ['default', 'plan'], []],
]

for (const [id, category, values, open] of rows) {
  test(`${id}: open when ${open.join(' or ') || 'never'}`, () => {
    const option = { id, category, values }
    assert.equal(values.filter((value) => isOpenOption(option, value)), open)
    const closed = closedValue(option)
    if (open.length > 0) assert.ok(closed !== undefined && !open.includes(closed), closed)
  })
}

test('an option that only offers not to ask has no other value', () => {
  assert.is(closedValue({ id: 'approval', category: undefined, values: ['yolo', 'auto'] }), undefined)
})

test.run()
