/**
 * The published web page in Chromium, served by its own static server.
 *
 * Plain JavaScript, since neither the page nor the driver of the browser is a dependency of this project. The argument
 * of the program is a JSON object of scripts/gui.ts with paths, addresses and the server's process id. Requests to
 * other hosts, such as for fonts, are cut off; the editor of differences is served from its npm package instead.
 */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { step, until } from '../client/steps.mjs'
import { beginStep, setAway, watch } from './network.mjs'
import { serveEditor } from './editor.mjs'

const run = JSON.parse(process.argv[2])
const { canvas, playwright, editor, chromium: executablePath, server, key, pictures, pid } = run
export const { asker, mcp, model } = run

// The static server of the page prints what it does, and the steps are on the same output.
console.log = () => undefined
process.removeAllListeners('warning')
const { startStaticServer } = await import(pathToFileURL(join(canvas, 'scripts', 'static-server.mjs')).href)
const { chromium } = await import(pathToFileURL(join(playwright, 'node_modules', 'playwright-core', 'index.mjs')).href)

const paths = ['/api', '/sockets', '/server_info', '/alive', '/health', '/ready']
const routes = Object.fromEntries(paths.map((path) => [path, server]))
const usual = { rejectPrefixes: [], noReferrerPrefixes: [], basePath: '/', disableTelemetry: true }
const dir = join(canvas, 'build')
const site = await startStaticServer({ ...usual, port: 0, host: '127.0.0.1', dir, routes, sessionApiKey: key })
export const home = `http://127.0.0.1:${site.address().port}`

const args = ['--no-sandbox', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1']
const { port: directPort, close: closeDirect } = await directSite()
const browser = await chromium.launch({ executablePath, args })
export const page = await browser.newPage({ viewport: { width: 1400, height: 1000 } })
page.setDefaultTimeout(60_000)

await watch(page, [home, server])
await serveEditor(page, editor)

/** Kills the server as a power cut does, and waits until it is there again. */
export async function killServer() {
  setAway(true)
  process.kill(pid, 'SIGKILL')
  await until(async () => fetch(`${server}/ready`).then(({ ok }) => ok, () => false), 'the server to be back')
}

/** Errors count again from now on. */
export function serverIsBack() {
  setAway(false)
}

/** The kinds of frames that came over sockets. */
export const frames = []
/** The texts of the frames that the page sent over sockets. */
export const sent = []

page.on('websocket', (socket) => {
  socket.on('framereceived', ({ payload }) => {
    const kind = /"kind":\s*"(\w+)"/.exec(String(payload))?.[1]
    if (kind !== undefined) frames.push(kind)
  })
  socket.on('framesent', ({ payload }) => sent.push(String(payload)))
})

let count = 0
async function picture(name) {
  const number = String(++count).padStart(2, '0')
  await page.screenshot({ path: join(pictures, `${number}-${name.replaceAll(/[^a-z0-9]+/gi, '-')}.png`) })
}

/** Runs one step and takes a picture of its end. */
export async function shot(name, body) {
  beginStep(name)
  await step(name, body)
  await picture(name).catch(() => undefined)
}

export function test(id) {
  return page.getByTestId(id)
}

/** Asks the server itself. */
export async function ask(method, path, body) {
  const headers = { 'X-Session-API-Key': key, 'Content-Type': 'application/json' }
  const response = await fetch(server + path, { method, headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return response.json()
}

export async function sees(text) {
  await page.getByText(text).first().waitFor()
}

/** Opens the page from another origin than the server's. It knows no server yet, asks for address and key. */
export async function openDirectly() {
  await page.goto(`http://127.0.0.1:${directPort}/`)
  await test('onboarding-backend-name').fill('Direct')
  await test('onboarding-backend-host').fill(server)
}

/** Enters a key beside the address. */
export async function enterKey(entered = key) {
  await test('onboarding-backend-api-key').fill(entered)
  await test('onboarding-backend-next').click()
}

async function directSite() {
  const direct = await startStaticServer({ ...usual, port: 0, host: '127.0.0.1', dir, routes: {} })
  const end = () => {
    direct.close()
    direct.closeAllConnections()
  }
  return { port: direct.address().port, close: end }
}

export async function close() {
  closeDirect()
  await browser.close()
  site.close()
  site.closeAllConnections()
}
