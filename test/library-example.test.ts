/**
 * The library's public types, compiled as a strict host compiles them. The examples of src/README.md compile and run,
 * with the files that `exports` of package.json names.
 */
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import { libraryExample } from '../scripts/documents/library-example.ts'
import { makeFolder } from './support/processes.ts'
import { suite } from './support/suite.ts'

const test = suite('library example')
const root = fileURLToPath(new URL('../../', import.meta.url))
const compiler = join(root, 'node_modules/typescript/bin/tsc')
const run = promisify(execFile)
const { exports: { '.': entry } }: { exports: { '.': { types: string, default: string } } } =
  JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** Makes a host's project that has the package as a dependency. */
function makeHost(folder: string, code: string): void {
  writeFileSync(join(folder, 'host.ts'), code)
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({
    compilerOptions: {
      module: 'nodenext', target: 'es2023', lib: ['es2023'], types: ['node'], strict: true, skipLibCheck: false,
      typeRoots: [join(root, 'node_modules/@types')],
      exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noPropertyAccessFromIndexSignature: true,
      paths: { 'agent-server': [join(root, entry.types)] },
    },
    files: ['host.ts'],
  }))
}

/** Requests the route of the example's own part, and prints the response. */
const requestOfBilling = [
  'const { url } = await own.listen()',
  "const headers = { 'X-Session-API-Key': own.sessionKeys[0] ?? '' }",
  'const billed = await fetch(`${url}/api/billing`, { headers })',
  "console.log('billing', billed.status, await billed.text())",
].join('\n')

/** Compiles the host and returns the compiler's complaints. */
async function compile(folder: string): Promise<string> {
  return run(process.execPath, [compiler, '-p', folder]).then(() => '', (failed: unknown) => {
    const output: unknown = failed instanceof Error && 'stdout' in failed ? failed.stdout : failed
    return String(output)
  })
}

test('the examples of the manual compile under strict rules, and run to their end', async () => {
  const { folder, remove } = makeFolder()
  try {
    mkdirSync(join(folder, 'srv/project'), { recursive: true })
    const code = libraryExample(readFileSync(join(root, 'src/README.md'), 'utf8'))
      .replaceAll("'/srv/", `'${join(folder, 'srv')}/`)
      .replace('listen(8000,', 'listen(0,')
      .replace("dataDir: '/srv/own/data',", "$& port: 0,")
      .replace('await own.close()', `${requestOfBilling}\n$&`)
    makeHost(folder, code)
    assert.is(await compile(folder), '')
    const program = join(folder, 'host.js')
    const library = join(root, entry.default)
    writeFileSync(program, readFileSync(program, 'utf8').replace("'agent-server'", `'${library}'`))
    const { stdout } = await run(process.execPath, [program], { cwd: folder })
    assert.match(stdout, 'exit code 0')
    assert.match(stdout, /^not_found \[\]$/m)
    assert.match(stdout, /^It is sunny\.$/m)
    assert.match(stdout, /^billing 200 \{"costs":/m)
  } finally {
    remove()
  }
})

test('a wrong request, and a kind of event that does not exist, do not compile', async () => {
  const { folder, remove } = makeFolder()
  try {
    makeHost(folder, [
      "import type { AgentServer, Event } from 'agent-server'",
      'export const start = (server: AgentServer) => server.createConversation({ max_iterations: "ten" })',
      "export const isWrong = (event: Event) => event.kind === 'NoSuchEvent'",
    ].join('\n'))
    const complaints = await compile(folder)
    assert.match(complaints, /host\.ts.2,/)
    assert.match(complaints, /host\.ts.3,/)
  } finally {
    remove()
  }
})

test.run()
