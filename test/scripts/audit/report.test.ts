/** The audit of small sources: the findings, the failures, the changes, and the page. */
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

const page = { since: undefined, changes: undefined, leftOut: [], full: true }

test('the page names what was left out, and the faults', () => {
  const files = tree({ ...source, 'base/c.ts': 'b().catch(() => 1)' })
  const text = printPage(reportOn(files, false), { ...page, leftOut: ['changes: there is no git'] })
  assert.match(text, /Left out: changes: there is no git/)
  assert.match(text, /src\/process\/child\.ts {2}spawn:1,2/)
  assert.match(text, /src\/base\/a\.ts:1 {2}catch\(\(\) => 1\) {2}\/\/ Gone\./)
  assert.match(text, /FAULTS\n {2}src\/base\/c\.ts:1: an error ends here without a reason/)
})

test('the page without --full has each power with its doors, counts, and no places', () => {
  const text = printPage(reportOn(tree(source), false), { ...page, full: false })
  assert.match(text, /npm run audit -- --full/)
  assert.match(text, /\n {2}Start and end programs: 1 files by spawn\n/)
  assert.match(text, /1 in all; without a reason beside it: none/)
  assert.match(text, /by hand: none/)
  assert.not.match(text, /src\/process\/child\.ts/)
})

test('the page of this source is short', async () => {
  const { readTree } = await import('../../../scripts/audit/tree.ts')
  const text = printPage(reportOn(readTree(process.cwd()), false), { ...page, full: false })
  assert.ok(text.split('\n').length <= 140, `${text.split('\n').length} lines`)
})

test('the page shows control characters of the source as escape sequences', () => {
  const files = tree({ 'a.ts': "const a = new RegExp('\\u001b\u001b[31m' + b)" })
  const text = printPage(reportOn(files, false), page)
  assert.not.match(text, /\u001b/)
  assert.match(text, /\\u001b\\u001b\[31m/)
})

test('a reason is printed once, and not as code', () => {
  const files = tree({ 'a.ts': 'try { b() } catch { // Gone.\n  return 1\n}' })
  const text = printPage(reportOn(files, false), page)
  assert.match(text, /src\/a\.ts:1 {2}catch { return 1 } {2}\/\/ Gone\.\n/)
})

test('an expression that is not evaluated is a fault without a reason', () => {
  const files = tree({ 'a.ts': 'const a = new RegExp(b)', 'schema/check.ts': "new RegExp(pattern, 'u')" })
  const { faults } = reportOn(files, false)
  assert.equal(faults.map((fault) => fault.split(':')[0]), ['scripts/audit/pattern-limits.ts', 'src/a.ts'])
})

test('reads the same routes from the text as the program has', async () => {
  const { readTree } = await import('../../../scripts/audit/tree.ts')
  const files = readTree(process.cwd())
  const read = routesOf(files).filter(({ file }) => file === 'src/access.ts').map(({ name }) => name)
  assert.equal(read, Object.entries(access).map(([route, right]) => `${route}: ${right}`))
  assert.ok(powerUsesOf(files).length > 100)
})

test.run()
