/** Whether each member of a request is read by something, or says that nothing acts on it. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { specFiles } from '../../scripts/generate/specs.ts'
import { suite } from '../support/suite.ts'

const test = suite('schema unread')

/** Kept and shown, which is all that is asked of them: the name of a provider connection for its reader. */
const shown = new Set(['display_name'])
/** Types that stand in unread members alone. */
const inside = new Set(['AgentLaunchAdditions'])
/** Types whose unread members are refused as soon as they have a value (api/deferred-init). */
const refusing = new Set(['InitRequest'])

function wordsOfSource(): Set<string> {
  const folder = fileURLToPath(new URL('../../../src/', import.meta.url))
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !/^schema\/|^parts\/[^/]+\/(spec|generated)\.ts$/.test(path))
  return new Set(files.flatMap((path) => readFileSync(`${folder}${path}`, 'utf8').match(/[A-Za-z_]\w*/g) ?? []))
}

test('a member that no file outside of the schema names says that nothing acts on it', () => {
  const words = wordsOfSource()
  assert.ok(words.size > 1000)
  const types = specFiles.flatMap(({ definitions }) => Object.entries(definitions))
  const silent = types.flatMap(([name, schema]) => {
    if (schema.type !== 'object' || schema.outgoing === true || inside.has(name) || refusing.has(name)) return []
    return Object.entries(schema.members)
      .filter(([member, { unread }]) => unread !== true && !words.has(member) && !shown.has(member))
      .map(([member]) => `${name}.${member}`)
  })
  assert.equal(silent, [])
})

test.run()
