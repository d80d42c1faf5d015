/** Which messages call for which skills. */
import * as assert from 'uvu/assert'
import { skillOfClient, type Skill } from '../../../src/parts/skills/skill.ts'
import { matchSkills } from '../../../src/parts/skills/triggers.ts'
import { suite } from '../../support/suite.ts'

const test = suite('agents/skills/triggers')

function skill(triggers: readonly string[], more: object = {}): Skill {
  return skillOfClient({ name: 'it', content: 'text', triggers, ...more })
}

const table: readonly (readonly [trigger: string, message: string, isCalled: boolean])[] = [
  ['git', 'use git', true],
  ['git', 'Git, please', true],
  ['GIT', 'please: git!', true],
  ['git', 'use git-lfs', true],
  ['git', '"git"', true],
  ['git', 'legitimate', false],
  ['git', 'digit', false],
  ['git', 'github', false],
  ['git', 'git2', false],
  ['git', 'a_git', false],
  ['git', 'legit git', true],
  ['git', '', false],
  ['pull request', 'make a Pull Request now', true],
  ['pull request', 'make a pull  request now', false],
  ['c++', 'in C++ only', true],
  ['c++', 'in c+', false],
  ['.env', 'the .env file', true],
  ['.env', 'my.env', true],
  ['@bot', 'hey @bot!', true],
  ['caf\u00e9', 'CAFE\u0301', true],
  ['straße', 'Straße', true],
  ['база', 'базалт', false],
  ['代码', '请看这段代码吧', true],
  ['コード', 'このコードを', true],
  ['git', '用git提交', true],
  ['😀', 'so 😀😀', true],
  ['x', '😀x😀', true],
  ['/review', '/review', true],
  ['/review', 'please /REVIEW this', true],
  ['/review', 'a\n/review\nb', true],
  ['/review', '/review, then', true],
  ['/review', 'src/review', false],
  ['/review', '/reviewer', false],
  ['/review', '/review-all', false],
  ['/review', '/review/all', false],
  ['/review', '"/review"', false],
]

for (const [trigger, message, isCalled] of table) {
  test(`the trigger ${JSON.stringify(trigger)} is ${isCalled ? '' : 'not '}in ${JSON.stringify(message)}`, () => {
    assert.is(matchSkills(message, [skill([trigger])]).length, isCalled ? 1 : 0)
  })
}

test('a skill is called once, by its first trigger that is found, as it is written', () => {
  const [match, ...others] = matchSkills('b and a', [skill(['none', 'A', 'b'])])
  assert.is(match?.trigger, 'A')
  assert.equal(others, [])
})

test('a skill without triggers is called by nothing, and an Agent Skill by its name as a command', () => {
  assert.equal(matchSkills('it /it', [skill([])]), [])
  const agentSkill = skill(['word'], { is_agentskills_format: true, disable_model_invocation: true })
  assert.is(matchSkills('do /it now', [agentSkill]).length, 1)
  assert.is(matchSkills('a word', [agentSkill]).length, 1)
  assert.is(matchSkills('do it now', [agentSkill]).length, 0)
})

test('only the beginning of a long message is searched', () => {
  assert.is(matchSkills(`${'a '.repeat(16 * 1024)}git`, [skill(['git'])]).length, 0)
  assert.is(matchSkills(`git ${'a '.repeat(16 * 1024)}`, [skill(['git'])]).length, 1)
})

test.run()
