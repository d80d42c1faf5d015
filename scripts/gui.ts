/**
 * `npm run gui -- FOLDER`: drives the built server with the published web page in Chromium, from the first page to the
 * settings, and writes a picture of each step into the folder.
 *
 * The page is `@openhands/agent-canvas`, written by others for the public server, and is served by its own static
 * server. It and `playwright-core` are installed outside the tree; Chromium is the machine's. Fails when a step does
 * not come to its end, when the server refuses a request of the page, and when something is red in the console.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { commandLine } from './command-line.ts'
import { drive, finish, printStep } from './driver.ts'
import { installPackages } from './real/agent-package.ts'
import { rootFolder, run } from './real/package-folder.ts'
import { startBuiltServer } from './real/built-server.ts'
import { startMcpHttp } from '../test/fixtures/mcp-http.ts'
import { startGuiModel } from './gui/model.ts'

const timeoutMs = 1_800_000
/** The editor of the page's differences, which the page loads from a host of others at this version. */
const monaco = 'monaco-editor@0.55.1'
const canvas = { name: '@openhands/agent-canvas', version: '1.20.0' }

const { words: [pictures = ''] } = commandLine({
  command: 'npm run gui',
  help: 'Drives the built server with the published web page in Chromium.',
  words: { name: 'FOLDER', help: 'The folder for a picture of each step', isRequired: true, limit: 1 },
})
await mkdir(pictures, { recursive: true })
const page = await installCanvas()
const playwright = await installPackages('playwright-core-1.56.1', ['playwright-core@1.56.1'])
const editor = await installPackages('monaco-editor-0.55.1', [monaco])
const chromium = findChromium()
const folder = await mkdtemp(join(tmpdir(), 'gui-'))
// The page offers three agents; the demonstration agent takes their places, so that no account is needed.
const providers = ['claude-code', 'codex', 'gemini-cli']
const commands = providers.flatMap((name) => ['--acp-command', `${name}=agent-server-demo-agent`])
// The agent's browser opens the page's own static server, and runs as root here.
const browserArgs = ['--browser-allow', '127.0.0.1', '--browser-no-sandbox']
const args = [...commands, ...browserArgs, '--workspace-dir', join(folder, 'work')]
let server = await startBuiltServer(folder, args)
let isOver = false
void startAgain(new URL(server.url).port)
// An agent that asks about two commands at once.
const asker = `${process.execPath} ${fileURLToPath(new URL('../test/fixtures/acp-agent.js', import.meta.url))} ask-together`
const mcp = await startMcpHttp()
const model = await startGuiModel()
let failed = 0
try {
  const { url, key, pid } = server
  const run = {
    canvas: page, playwright, editor, chromium, server: url, key, pid,
    mcp: mcp.url, model: model.url, asker, pictures: resolve(pictures),
  }
  failed = await drive({ driver: 'gui/driver.mjs', args: [JSON.stringify(run)], timeoutMs })
} finally {
  isOver = true
  const code = await server.stop()
  failed += printStep({ name: 'the server ends on SIGTERM', ok: code === 0, seen: `${code}: ${server.output()}` })
  await mcp.close()
  await model.close()
  await rm(folder, { recursive: true, force: true })
}
finish(failed)

/** Starts the server again at its address when the driver has killed it, once. */
async function startAgain(port: string): Promise<void> {
  await server.ended
  if (!isOver) server = await startBuiltServer(folder, [...args, '--port', port])
}

/**
 * Installs the page with the packages of its static server. Its own dependencies are not in the registry, so it is
 * unpacked only.
 */
async function installCanvas(): Promise<string> {
  const home = join(rootFolder(), `agent-canvas-${canvas.version}`)
  if (existsSync(join(home, 'package'))) return join(home, 'package')
  process.stdout.write(`installing ${canvas.name}@${canvas.version} in ${home}\n`)
  await run('npm', ['pack', '--silent', `${canvas.name}@${canvas.version}`], home)
  const fresh = join(home, 'fresh')
  await mkdir(fresh, { recursive: true })
  await run('tar', ['xzf', join(home, `openhands-agent-canvas-${canvas.version}.tgz`), '-C', fresh], home)
  await writeFile(join(fresh, 'package', 'package.json'), '{ "private": true, "type": "module" }\n')
  await run('npm', ['install', '--no-audit', '--no-fund', 'sirv@3.0.2', 'httpxy@0.5.3'], join(fresh, 'package'))
  await rename(join(fresh, 'package'), join(home, 'package'))
  return join(home, 'package')
}

function findChromium(): string {
  const names = ['chromium', 'chromium-browser', 'google-chrome']
  const found = names.map((name) => spawnSync('which', [name]).stdout.toString().trim()).find((path) => path !== '')
  if (found === undefined) throw new Error('Cannot drive the page: there is no Chromium in the PATH')
  return found
}
