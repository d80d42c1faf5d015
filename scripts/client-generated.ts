/**
 * Generates clients from the server's OpenAPI description with published generators, compiles them and does the main
 * job with each: openapi-typescript (with openapi-fetch, checked by tsc in strict mode) and openapi-python-client.
 *
 * The generators are installed outside the tree, the clients are generated into a temporary folder. The model is a
 * stand-in.
 */
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { drive, finish, printStep } from './driver.ts'
import { installPackages } from './real/agent-package.ts'
import { startBuiltServer, type BuiltServer } from './real/built-server.ts'
import { run } from './real/package-folder.ts'
import { installPython } from './real/python.ts'
import { startOpenAiModel } from '../test/fixtures/openai-model.ts'
import { openapi } from '../src/schema/generated/openapi.ts'

const timeoutMs = 300_000
const jobs = fileURLToPath(new URL('../../scripts/client/generated', import.meta.url))
const packages = [
  'openapi-typescript@7.13.0', 'openapi-fetch@0.17.0', 'typescript@5.9.3', '@types/node@20.19.43',
]

const model = await startOpenAiModel({
  script: () => [
    { toolCall: { name: 'terminal', input: { command: 'echo hello' } } },
    { toolCall: { name: 'finish', input: { message: 'Done with it.' } } },
  ],
})
const folder = await mkdtemp(join(tmpdir(), 'client-generated-'))
const description = join(folder, 'openapi.json')
await writeFile(description, openapi)
await mkdir(join(folder, 'work'))
const server = await startBuiltServer(folder, ['--workspace-dir', join(folder, 'work')])
let failed = 0
try {
  failed += await typescriptJob(server)
  failed += await pythonJob(server)
} finally {
  const code = await server.stop()
  failed += printStep({ name: 'the server ends on SIGTERM', ok: code === 0, seen: `${code}: ${server.output()}` })
  await model.close()
  await rm(folder, { recursive: true, force: true })
}
finish(failed)

async function typescriptJob({ url, key }: BuiltServer): Promise<number> {
  process.stdout.write('openapi-typescript\n')
  const installed = join(await installPackages('openapi-typescript-7.13.0', packages), 'node_modules')
  const client = join(folder, 'typescript')
  await mkdir(client)
  await symlink(installed, join(client, 'node_modules'))
  await cp(join(jobs, 'main-job.mjs'), join(client, 'main-job.mjs'))
  const program = (name: string): string => join(installed, '.bin', name)
  const faults = await tried('the types are generated', () => {
    // A member with a default may be missing in a request.
    return run(program('openapi-typescript'), [description, '-o', 'api.d.ts', '--default-non-nullable=false'], client)
  }) + await tried('the client compiles in strict mode', () => {
    const strict = ['--strict', '--noEmit', '--allowJs', '--checkJs', '--target', 'es2022', '--module', 'nodenext']
    return run(program('tsc'), [...strict, '--types', 'node', 'main-job.mjs', 'api.d.ts'], client)
  })
  if (faults > 0) return faults
  const driver = join(client, 'main-job.mjs')
  return drive({ driver, args: [url, key, join(folder, 'work'), model.url], timeoutMs })
}

async function pythonJob({ url, key }: BuiltServer): Promise<number> {
  process.stdout.write('openapi-python-client\n')
  const requirements = ['openapi-python-client==0.29.1', 'httpx', 'attrs', 'python-dateutil']
  const environment = join(await installPython({ folder: 'openapi-python-client-0.29.1', requirements }), 'bin')
  const client = join(folder, 'python')
  await mkdir(client)
  const output = ['--meta', 'none', '--output-path', join(client, 'generated_client')]
  const faults = await tried('the client is generated', () => {
    return run(join(environment, 'openapi-python-client'), ['generate', '--path', description, ...output], client)
  })
  if (faults > 0) return faults
  await cp(join(jobs, 'main_job.py'), join(client, 'main_job.py'))
  const args = [url, key, join(folder, 'work'), model.url]
  return drive({ driver: join(client, 'main_job.py'), interpreter: join(environment, 'python'), args, timeoutMs })
}

async function tried(name: string, body: () => Promise<void>): Promise<number> {
  const seen = await body().then(() => undefined, String)
  return printStep({ name, ok: seen === undefined, seen: seen ?? '' })
}
