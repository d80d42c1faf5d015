/** Names that models use for tools, and the calls that they stand for. */
import * as assert from 'uvu/assert'
import { repairName } from '../../../src/parts/builtin/calls/tool-names.ts'
import { suite } from '../../support/suite.ts'

const test = suite('agents/builtin/tool-names')
const tools = new Set(['terminal', 'file_editor', 'finish'])

test('a tool that is there keeps its name and arguments', () => {
  const call = { name: 'bash', args: { command: 'ls' } }
  assert.is(repairName(call, new Set(['bash', 'terminal'])), call)
})

test('markup behind a name is cut', () => {
  for (const name of ['finish</function>', 'finish"', 'finish <parameter=x>']) {
    assert.equal(repairName({ name, args: {} }, tools), { name: 'finish', args: {} })
  }
})

test('names of shells lead to the terminal', () => {
  for (const name of ['bash', 'command', 'execute', 'execute_bash', 'git', 'reset']) {
    const args = { command: 'git status' }
    assert.equal(repairName({ name, args }, tools), { name: 'terminal', args })
  }
})

test('the bare name of a program is its command', () => {
  for (const name of ['ls', 'pwd', 'find', 'git']) {
    assert.equal(repairName({ name, args: {} }, tools), { name: 'terminal', args: { command: name } })
  }
})

test('a shell name without a command is left for the tool to refuse, a reset resets', () => {
  assert.equal(repairName({ name: 'bash', args: {} }, tools), { name: 'terminal', args: {} })
  assert.equal(repairName({ name: 'reset', args: {} }, tools), { name: 'terminal', args: { command: '', reset: true } })
})

test('names of editors lead to the file editor, with the command that the arguments tell', () => {
  const cases = [
    [{ old_str: 'a' }, 'str_replace'],
    [{ insert_line: 1 }, 'insert'],
    [{ file_text: '' }, 'create'],
    [{ path: '/x' }, 'view'],
    [{ command: 'undo_edit', old_str: 'a' }, 'undo_edit'],
  ] as const
  for (const [args, command] of cases) {
    for (const name of ['str_replace', 'str_replace_editor']) {
      assert.equal(repairName({ name, args }, tools), { name: 'file_editor', args: { ...args, command } })
    }
  }
})

test('nothing is meant by an unknown name, or when the tool is not there', () => {
  assert.is(repairName({ name: 'teleport', args: {} }, tools), undefined)
  assert.is(repairName({ name: 'bash', args: { command: 'ls' } }, new Set(['file_editor'])), undefined)
  assert.is(repairName({ name: 'str_replace', args: {} }, new Set(['terminal'])), undefined)
})

test.run()
