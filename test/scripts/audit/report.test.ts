/** The audit of small sources: what is found, what fails, what has changed, and the page. */
import * as assert from 'uvu/assert'
import { changesBetween } from '../../../scripts/audit/changes.ts'
import { printPage } from '../../../scripts/audit/page.ts'
import { reportOn } from '../../../scripts/audit/report.ts'
import { powerUsesOf, routesOf } from '../../../scripts/audit/surface.ts'
import { readSource, type SourceFile } from '../../../scripts/shape/source-file.ts'
import { access } from '../../../src/access.ts'
import { suite } from '../../support/suite.ts'

const test = suite('scripts/audit/report')

function tree(texts: Readonly<Record<string, string>>): readonly SourceFile[] {
  return Object.entries(texts).map(([path, text]) => readSource(`src/${path}`, `${text}\n`))
}

const source = {
  'access.ts': "export const access = {\n  'GET /alive': 'open',\n  'POST /api/init': 'init',\n}",
  'process/child.ts': "import { spawn } from 'node:child_process'\nexport const start = () => spawn('a')",
  'parts/a/part.ts': "export const a = {\n  options: { depth: count(1) },\n  routes: { 'GET /a': 'read' },\n}",
  'base/a.ts': "export const a = () => b().catch(() => 1) // Gone.\nconst name = 'SESSION_API_KEY'",
}

test('finds routes with rights, options, powers with lines, variables and swallowed errors', () => {
  const report = reportOn(tree(source), false)
  assert.equal(report.routes.map(({ name }) => name), ['GET /alive: open', 'POST /api/init: init', 'GET /a: read'])
  assert.equal(report.options.map(({ name }) => name), ['depth'])
  assert.equal(report.powers, [{
    power: 'Start and end programs', file: 'src/process/child.ts', door: 'spawn of node:child_process', lines: [1, 2],
  }])
  assert.equal(report.variables.map(({ name }) => name), ['SESSION_API_KEY'])
  assert.equal(report.swallowed.map(({ reason }) => reason), ['Gone.'])
  assert.equal(report.units.map(({ unit, routes }) => `${unit} ${routes}`), ['core 2', 'a 1'])
  assert.equal(report.faults, [])
})

test('fails for an error without a reason, a cast and a package', () => {
  const { faults } = reportOn(tree({
    'a.ts': "import a from 'left-pad'\nb().catch(() => 1)\nconst c = d as string",
  }), false)
  assert.equal(faults.map((fault) => fault.split(': ')[0]), ['src/a.ts:2', 'src/a.ts:3', 'src/a.ts:1'])
})

test('tells what is new and what is gone', () => {
  const { lines, added, removed } = changesBetween(tree(source), tree({
    ...source,
    'access.ts': "export const access = {\n  'GET /alive': 'read',\n}",
    'base/b.ts': "import { connect } from 'node:net'\nconnect(1)",
  }))
  assert.equal(lines, [{ unit: 'core', before: 8, now: 9 }])
  assert.equal(added['routes'], ['GET /alive: read'])
  assert.equal(removed['routes'], ['GET /alive: open', 'POST /api/init: init'])
  assert.equal(added['powers'], ['Send requests: src/base/b.ts: connect of node:net'])
})

test('the page names what was left out, and the faults', () => {
  const files = tree({ ...source, 'base/c.ts': 'b().catch(() => 1)' })
  const options = { since: undefined, changes: undefined, leftOut: ['changes: there is no git'], full: true }
  const page = printPage(reportOn(files, false), options)
  assert.match(page, /Left out: changes: there is no git/)
  assert.match(page, /src\/process\/child\.ts {2}spawn:1,2/)
  assert.match(page, /src\/base\/a\.ts:1 .*\/\/ Gone\./)
  assert.match(page, /FAULTS\n {2}src\/base\/c\.ts:1: an error ends here without a reason/)
})

test('reads the same routes from the text as the program has', async () => {
  const { readTree } = await import('../../../scripts/audit/tree.ts')
  const files = readTree(process.cwd())
  const read = routesOf(files).filter(({ file }) => file === 'src/access.ts').map(({ name }) => name)
  assert.equal(read, Object.entries(access).map(([route, right]) => `${route}: ${right}`))
  assert.ok(powerUsesOf(files).length > 100)
})

test.run()
