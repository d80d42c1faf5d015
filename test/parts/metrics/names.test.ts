/**
 * The names of metrics in the documents and in the files for Prometheus and Grafana: each is one that a real server
 * answers, with its labels, and each that a server answers is in the README.
 */
import * as assert from 'uvu/assert'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startTalk } from '../../e2e/talk.ts'
import { until } from '../../support/processes.ts'
import { readMetrics, type Families } from '../../support/prometheus-text.ts'
import { withServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'
import { backUpTo } from '../backup/commands.ts'

const test = suite('parts/metrics/names')

function textOf(path: string): string {
  return readFileSync(fileURLToPath(new URL(`../../../../${path}`, import.meta.url)), 'utf8')
}

/** The metrics of a server that has done a bit of everything. */
async function seen(): Promise<Families> {
  return withServer(async (server) => {
    const talk = await startTalk(server, 'usage')
    await talk.send('hello')
    await talk.reaches('finished')
    await (await server.socket(talk.id)).close(1000)
    // Parts that have figures: one begins with its first request, one with its option.
    await server.rest.get('/api/git/changes?path=/')
    await backUpTo(server.dataDir, join(server.folder, 'backup'))
    await until(async () => (await server.rest.get('/metrics')).text.includes('backup_age'))
    return readMetrics((await server.rest.get('/metrics')).text)
  }, { metrics: true, webhooks: ['http://127.0.0.1:9'], maxConversations: 99, maxRuns: 9, maxDisk: 2 ** 40 })
}

/** The names of samples with the names of their labels. */
function samplesOf(families: Families): Map<string, Set<string>> {
  const names = new Map<string, Set<string>>()
  for (const { name, type, samples } of families.values()) {
    const suffixes = { histogram: ['_bucket', '_sum', '_count'], summary: ['_sum', '_count'] }[type] ?? ['']
    for (const suffix of suffixes) names.set(name + suffix, new Set())
    for (const sample of samples) for (const label of Object.keys(sample.labels)) names.get(sample.name)?.add(label)
  }
  return names
}

const selector = /\b((?:agent_server|process|nodejs)_[a-z_]+)(?:\{([^}]*)\})?/g

/** Each metric of an expression, with the labels that the expression selects or groups by. */
function usesIn(expression: string): { readonly name: string, readonly labels: readonly string[] }[] {
  const groups = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/\s*,\s*/))
  return [...expression.matchAll(selector)].map(([, name = '', matchers = '']) => {
    const selected = [...matchers.matchAll(/([a-z_]+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label)
    return { name, labels: [...selected, ...groups] }
  })
}

/** Labels that Prometheus adds. */
const added = ['instance', 'job']

test('the README names every metric of a server with its labels, and no other', async () => {
  const families = await seen()
  const readme = textOf('src/parts/metrics/README.md')
  const rows = [...readme.matchAll(/^\| (`[a-z_]+(?:\{[a-z,]+\})?`(?:, `[a-z_]+`)*) \| (\w+) \|/gm)]
  const written = rows.flatMap(([, names = '', type = '']) => [...names.matchAll(/`([a-z_]+)(?:\{([a-z,]+)\})?`/g)].map(
    ([, name = '', labels = '']) => `agent_server_${name} ${type} ${labels}`,
  ))
  const own = [...families.values()].filter(({ name }) => name.startsWith('agent_server_'))
  const answered = own.map(({ name, type, samples }) => {
    const labels = Object.keys(samples[0]?.labels ?? {}).filter((label) => label !== 'le')
    return `${name} ${type} ${labels.join(',')}`
  })
  assert.ok(written.length > 20)
  assert.equal(written.sort(), answered.sort())
  for (const { name } of families.values()) {
    if (!name.startsWith('agent_server_')) assert.match(readme, `\`${name}\``)
  }
})

/** The expressions of the panels, and of the alerts: a line, or the block under `expr: |`. */
const expressions = {
  'dashboard.json': [...textOf('scripts/deploy/dashboard.json').matchAll(/"expr": ("(?:[^"\\]|\\.)*")/g)]
    .map(([, json = '']): unknown => JSON.parse(json)).map(String),
  'alerts.yml': [...textOf('scripts/deploy/alerts.yml').matchAll(/^ +expr: (?:\|\n((?: {10,}.*\n)+)|(.*)\n)/gm)]
    .map(([, block, line]) => block ?? line ?? ''),
}

for (const [file, all] of Object.entries(expressions)) {
  test(`${file} asks for metrics and labels that exist`, async () => {
    const known = samplesOf(await seen())
    assert.is(all.length, textOf(`scripts/deploy/${file}`).match(/\bexpr"?: /g)?.length)
    for (const expression of all) {
      const uses = usesIn(expression)
      assert.ok(uses.length > 0 || expression.startsWith('up{'), expression)
      for (const { name, labels } of uses) {
        const own = known.get(name)
        if (own === undefined) throw new Error(`There is no metric ${name}: ${expression}`)
        assert.equal(labels.filter((label) => !own.has(label) && !added.includes(label)), [], expression)
      }
    }
  })
}

test('every metric is in the dashboard', async () => {
  const stemOf = (name: string): string => name.replace(/_(?:bucket|sum|count)$/, '')
  const shown = new Set(expressions['dashboard.json'].flatMap(usesIn).map(({ name }) => stemOf(name)))
  assert.equal([...samplesOf(await seen()).keys()].map(stemOf).filter((stem) => !shown.has(stem)), [])
})

test.run()
