/**
 * `npm run console:axe`: checks every view of the console with axe-core in Chromium, light and dark, on a desktop and
 * on a phone, and fails when axe-core finds anything or a view is wider than its window.
 *
 * axe-core is installed outside the tree. `--pictures FOLDER` writes a picture of each view in each size.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { newCode } from '../test/parts/console/visitor.ts'
import { closeBrowser, openTab, type Tab } from '../test/parts/console/chromium.ts'
import { prepare, views } from '../test/parts/console/views.ts'
import { startServer } from '../test/support/server.ts'
import { commandLine } from './command-line.ts'
import { finish, printStep } from './driver.ts'
import { installPackages } from './real/agent-package.ts'

const looks = [
  { look: 'desktop', width: 1280, scheme: 'light' }, { look: 'desktop-dark', width: 1280, scheme: 'dark' },
  { look: 'phone', width: 375, scheme: 'light' }, { look: 'phone-dark', width: 375, scheme: 'dark' },
] as const
const moreLooks = [
  { look: 'tablet', width: 768, scheme: 'light' }, { look: 'wide', width: 1600, scheme: 'light' },
] as const

const { flags, words } = commandLine({
  command: 'npm run console:axe',
  help: 'Checks every view of the console with axe-core in Chromium.',
  flags: { pictures: { value: 'FOLDER', help: 'Write a picture of each view, also of a tablet and a wide window' } },
  words: { name: 'VIEW', help: 'Only views whose names contain this word' },
})
const [pictures] = flags.pictures ?? []
if (pictures !== undefined) process.env['CONSOLE_PICTURES'] = pictures
const axe = await installPackages('axe-core-4.14.1', ['axe-core@4.14.1'])
const source = await readFile(join(axe, 'node_modules', 'axe-core', 'axe.min.js'), 'utf8')
const server = await startServer()
const tab = await openTab(server.url)
let failed = 0
try {
  for (const view of [signedOut, emptyList]) await checkAll(view.name, () => view(tab))
  const prepared = await prepare(server)
  for (const { name, open } of views) await checkAll(name, () => open(tab, prepared))
} finally {
  await closeBrowser()
  await server.close()
}
finish(failed)

async function signedOut({ open, until }: Tab): Promise<void> {
  await open(`${server.url}/console/`)
  await until("document.querySelector('.sign-in, .shell') !== null")
}

async function emptyList({ open, until }: Tab): Promise<void> {
  await open('about:blank')
  await open(`${server.url}/console/#code=${await newCode(server)}`)
  await until("document.querySelector('.shell') !== null")
}

async function checkAll(name: string, open: () => Promise<void>): Promise<void> {
  const isAsked = words.length === 0 || words.some((word) => name.includes(word))
  if (!isAsked && name !== 'emptyList') return
  await open()
  for (const { look, width, scheme } of pictures === undefined ? looks : [...looks, ...moreLooks]) {
    await tab.size(width, width < 760 ? 800 : 900, scheme)
    await tab.run('new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100)))')
    await tab.picture(`${name}-${look}`)
    const seen = [...await tooWide(), ...await findings()]
    failed += printStep({ name: `${name}, ${look}`, ok: seen.length === 0, seen: seen.join('\n       ') })
  }
  await tab.size(1280, 900)
}

/** Returns the findings of axe-core: the rule, the element and the reason. */
async function findings(): Promise<string[]> {
  await tab.run(source)
  const run = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.flatMap((one) => {
    return one.nodes.map((node) => one.id + ': ' + node.target + ': ' + node.failureSummary.replace(/\\s+/g, ' '))
  }))`
  const found = await tab.run(run)
  return Array.isArray(found) ? found.map(String) : []
}

async function tooWide(): Promise<string[]> {
  const width = await tab.run('document.documentElement.scrollWidth - document.documentElement.clientWidth')
  return width === 0 ? [] : [`${String(width)} px too wide`]
}
