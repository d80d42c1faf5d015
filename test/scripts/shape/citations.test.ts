import * as assert from 'uvu/assert'
import { checkCitations } from '../../../scripts/shape/citations.ts'
import { readSource } from '../../../scripts/shape/source-file.ts'
import { suite } from '../../support/suite.ts'

const test = suite('shape/citations')

const documents = new Map([
  ['src/DECISIONS.md', '# Decisions\n\n## 6. Durable\n## 7. Folders\n\n```\n## 8. Not a heading\n```\n'],
  ['src/schema/contract/settings.md', '# S\n## 1. Reading\n## 2. Patching\n## 3. A\n### 2.4 Merging\n### condenser\n'],
  ['src/schema/contract/payloads.md', '# Payloads\n### `TerminalAction`\n### ClientTool\n'],
  ['src/schema/contract/spec.md', [
    'Event variants', 'Endpoints', 'Credentials 1', 'Credentials 2', 'Credentials 3', 'Events 5',
  ].map((title) => `## ${title}\n`).join('')],
  ['src/agents/acp/sessions.md', '## Asking\n'],
])

/** Returns the findings about one comment, each as its line and its message. */
function find(comment: string): string[] {
  return checkCitations([readSource('src/a.ts', comment)], documents).map(({ line, message }) => `${line} ${message}`)
}

const sound = [
  '(decisions 6)', '(decisions 6 and 7)', 'Decisions, 6, 7.', '(decisions 6; RFC 6455, section 5)',
  '(contract: settings.md, section 2.4)', '(contract/settings.md 1 to 3)',
  '(contract: settings.md sections 1, 2 and 2.4)',
  '(`contract/settings.md` 1)', '(contract: settings.md, "condenser")', "(contract/payloads.md's, TerminalAction)",
  '(contract: payloads.md, TerminalAction and `ClientTool`; ECMA-48)',
  '(spec, "Event variants")', "the specification's section \"Event variants\"", '(spec: Endpoints; decisions 7)',
  '(spec: Credentials 1 to 3)', '(spec: Events 5)', '(sessions.md, "Asking")',
  'the table is in `sessions.md` beside this file', 'files in `spec/`',
  'a spec file; the notes.md of a user; 6 decisions',
]
for (const text of sound) test(`takes ${text}`, () => assert.equal(find(`/** ${text} */\n`), []))

const contract = 'src/schema/contract/'
const absent = 'is not in this repository: cite a document that is'

/** The text of a comment with a citation, and the message about it. */
const broken: readonly (readonly [text: string, said: string])[] = [
  ['decisions 8', 'src/DECISIONS.md has no heading 8'],
  ['decisions 6, 9 and 10', 'src/DECISIONS.md has no heading 9, 10'],
  ['settings.md, sections 2 to 4', `${contract}settings.md has no heading 4`],
  ['settings.md 2.5', `${contract}settings.md has no heading 2.5`],
  ['settings.md, "critic"', `${contract}settings.md has no heading critic`],
  ['settings.md', `name the section of ${contract}settings.md`],
  ['events.md, section 1', `${contract}events.md ${absent}`],
  ['acp.md, section 1.4', `acp.md ${absent}`],
  ['payloads.md, GlobAction', `${contract}payloads.md has no heading GlobAction`],
  ['spec: Credentials 2 to 4', `${contract}spec.md has no heading Credentials 4`],
  ['specification, section "Action"', `${contract}spec.md has no heading Action`],
  ['sessions.md, "Ending"', 'src/agents/acp/sessions.md has no heading Ending'],
]
for (const [text, said] of broken) {
  test(`refuses ${text}`, () => assert.equal(find(`/** A (${text}; RFC 1). */\n`), [`1 "${text}": ${said}`]))
}

test('reads over the end of a line, and tells the line on which a citation begins', () => {
  assert.equal(find('/**\n * A (contract: settings.md,\n * section 2.4) and (decisions\n * 6).\n */\n'), [])
  assert.equal(find('/**\n * A.\n * B (contract: settings.md,\n * section 2.5).\n */\n'), [
    '3 "settings.md, section 2.5": src/schema/contract/settings.md has no heading 2.5',
  ])
})

test('reads comments only', () => {
  assert.equal(find("const a = '(decisions 8)' // (decisions 6)\n"), [])
})

test.run()
