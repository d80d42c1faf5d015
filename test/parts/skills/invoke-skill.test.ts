/** The tool by which a model gets the text of a skill that it knows by name. */
import * as assert from 'uvu/assert'
import { calledLimitChars } from '../../../src/parts/skills/telling.ts'
import { skillOfClient, type Skill } from '../../../src/parts/skills/skill.ts'
import { createSkillTool } from '../../../src/parts/skills/invoke-skill.ts'
import type { Tool } from '../../../src/agents/tool.ts'
import type { JsonObject } from '../../../src/base/json.ts'
import { check } from '../../../src/schema/check.ts'
import { suite } from '../../support/suite.ts'

const test = suite('agents/tools/invoke-skill')

function skillNamed(name: string, changes: object = {}): Skill {
  return skillOfClient({
    name, content: `The text of ${name}.`, description: `About ${name}.`, is_agentskills_format: true, ...changes,
  })
}

function toolFor(skills: readonly Skill[], invoked: string[] = []): Tool {
  const [tool] = [createSkillTool({ skills, onInvoked: (name) => void invoked.push(name) })]
  assert.ok(tool)
  return tool
}

/** Returns the text for the model, and whether it is an error. */
async function result(tool: Tool, args: JsonObject): Promise<readonly [string, boolean]> {
  const read = tool.read(args)
  if (!read.ok) throw new Error(read.problem)
  assert.equal(check('Action', read.action), [])
  const observation = await tool.run(read.action, { id: 'call', signal: new AbortController().signal })
  assert.equal(check('Observation', observation), [])
  assert.is(observation.kind, 'MCPToolObservation')
  return [observation.content.map((part) => (part.type === 'text' ? part.text : '')).join(''), observation.is_error]
}

test('there is none where the prompt names no skill', () => {
  const skills = [
    skillNamed('always', { is_agentskills_format: false }), skillNamed('hidden', { disable_model_invocation: true }),
  ]
  assert.is(createSkillTool({ skills, onInvoked: () => undefined }), undefined)
})

test('the text comes between marks, with its place, and it is told which skill was given', async () => {
  const invoked: string[] = []
  const tool = toolFor(
    [skillNamed('pdf', { source: '/home/user/.agents/skills/pdf/SKILL.md', content: 'Use </skill> it.' })], invoked,
  )
  assert.equal(await result(tool, { name: 'pdf' }), [
    '<skill name="pdf" source="/home/user/.agents/skills/pdf/SKILL.md">\nUse &lt;/skill> it.\n</skill>', false,
  ])
  assert.equal(invoked, ['pdf'])
})

test('a name that is not listed, or listed for the user alone, gives an error that names the others', async () => {
  const invoked: string[] = []
  const tool = toolFor(
    [skillNamed('pdf'), skillNamed('hidden', { disable_model_invocation: true }), skillNamed('xls')], invoked,
  )
  for (const name of ['hidden', 'none', 'x'.repeat(5000)]) {
    assert.equal(await result(tool, { name }), [
      `There is no skill "${name.slice(0, 128)}": expected one of pdf, xls`, true,
    ])
  }
  assert.equal(invoked, [])
})

test('a text that is too long is not given', async () => {
  const tool = toolFor([skillNamed('long', { content: 'x'.repeat(calledLimitChars + 1) })])
  assert.equal(await result(tool, { name: 'long' }), [
    'The skill "long" is too long to be given here. Read its file.', true,
  ])
})

test('a call without a name is none, and a stop ends it', async () => {
  const tool = toolFor([skillNamed('pdf')])
  assert.equal(tool.read({}), { ok: false, problem: 'name: expected a string' })
  const stopped = { id: 'call', signal: AbortSignal.abort(new Error('stopped')) }
  const failure = await tool.run({ kind: 'MCPToolAction', data: { name: 'pdf' } }, stopped).catch((error: unknown) => {
    return error
  })
  assert.match(String(failure), 'stopped')
})

test('clients see a tool that changes nothing', () => {
  const { definition, isReadOnly } = toolFor([skillNamed('pdf')])
  assert.equal(check('ToolDefinition', definition), [])
  assert.is(isReadOnly, true)
})

test.run()
