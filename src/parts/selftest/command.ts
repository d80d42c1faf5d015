/**
 * `agent-server self-test`: tries this copy of the program, and compares the files, programs and addresses that the
 * program touches with the list in `touches.ts`.
 */
import { join } from 'node:path'
import { messageOf } from '../../base/errors.ts'
import { makeFolder, makeTemporaryFolder, privateFolder, removeTree } from '../../base/own-files.ts'
import { realpath } from '../../base/read-files.ts'
import { assertNoWords } from '../../option.ts'
import type { CommandCall } from '../../part.ts'
import { version } from '../../version.ts'
import { mainJob } from './main-job.ts'
import { watch, type Seen } from './observed.ts'
import { findPermissions, placesIn, startServer, type ServerProcess } from './server-process.ts'
import { findTouch, type Places, type Touch } from './touches.ts'

interface Check {
  readonly check: string
  readonly state: 'ok' | 'failed' | 'skipped'
  readonly text: string
}

type Tell = (check: string, state: Check['state'], text: string) => void

/** Returns exit code 0 when no check failed, else 1. @throws AppError `invalid_option`; the signal's reason */
export async function run(call: CommandCall): Promise<number> {
  const { words, flags, environment, temporaryDir, print, signal, parts } = call
  assertNoWords('self-test', words)
  const asJson = flags['json'] === 'true'
  const checks: Check[] = []
  const tell: Tell = (check, state, text) => {
    checks.push({ check, state, text })
    if (!asJson) print(`${state.padEnd(7)}  ${check.padEnd(18)}  ${text}\n`)
  }
  const folder = await makeTemporaryFolder(join(await realpath(temporaryDir), 'agent-server-self-test-'))
  try {
    for (const name of ['data', 'work', 'home']) await makeFolder(join(folder, name), privateFolder)
    if (parts.some(({ name }) => name === 'demo')) await test({ folder, environment, signal, tell })
    else tell('starts', 'skipped', 'this build has no demonstration agent (the part "demo")')
  } finally {
    await removeTree(folder)
  }
  const failed = checks.filter(({ state }) => state === 'failed').length
  if (asJson) print(`${JSON.stringify(checks, undefined, 2)}\n`)
  else if (failed > 0) print(`${failed} checks failed\n`)
  else print('This copy works, and was not seen to touch anything that SECURITY.md does not name\n')
  return failed === 0 ? 0 : 1
}

interface Test extends Pick<CommandCall, 'environment' | 'signal'> {
  readonly folder: string
  readonly tell: Tell
}

async function test({ folder, environment, signal, tell }: Test): Promise<void> {
  const places = placesIn(folder, environment)
  const permissions = await confine(places, tell)
  let server: ServerProcess
  try {
    server = await startServer({ places, environment, permissions, signal })
  } catch (thrown) {
    signal.throwIfAborted()
    return tell('starts', 'failed', messageOf(thrown))
  }
  const ended = new AbortController()
  const watching = watch(server.child.pid, ended.signal)
  try {
    const machine = `Node ${process.versions.node}, ${process.platform}-${process.arch}`
    tell('starts', 'ok', `agent-server ${version} on ${machine}`)
    for (const { name, run: step } of mainJob(server, signal)) {
      try {
        tell(name, 'ok', await step())
      } catch (thrown) {
        signal.throwIfAborted()
        tell(name, 'failed', messageOf(thrown))
      }
    }
    ended.abort()
    compare(await watching, server, tell)
    await end(server, tell)
  } finally {
    ended.abort()
    await server.child.stop()
  }
}

/** Reports whether Node's permission model can be used. Returns Node's arguments for it; none if it cannot be used. */
async function confine(places: Places, tell: Tell): Promise<readonly string[]> {
  const found = await findPermissions(places)
  if (found === 'open') tell('is confined', 'failed', "Node's permission model opens a file that is not named")
  else if (found === 'useless') {
    tell('is confined', 'skipped', 'the permission model of this Node forbids to sync a file, so it is not used')
  } else tell('is confined', 'ok', "Node's permission model denies the server the files that are not named")
  return typeof found === 'string' ? [] : found
}

function compare(seen: Seen | undefined, { places, url }: ServerProcess, tell: Tell): void {
  if (seen === undefined) return tell('files', 'skipped', 'there is no /proc to look at')
  const strange = (names: Iterable<string>, ...kinds: readonly Touch['kind'][]): string[] => {
    return [...names].filter((name) => findTouch(kinds, name, places) === undefined)
  }
  const say = (check: string, names: ReadonlySet<string>, unnamed: readonly string[], text: string): void => {
    if (unnamed.length > 0) tell(check, 'failed', `the list does not name ${unnamed.join(', ')}`)
    else tell(check, 'ok', `${names.size} seen in ${seen.looks} looks, all named: ${text}`)
  }
  const files = new Set([...seen.files].filter((path) => path !== process.execPath))
  say('files', files, strange(files, 'read', 'change'), 'open files and memory maps')
  const native = [...files].filter((path) => path.endsWith('.node'))
  say('native code', files, native, 'no native add-on')
  say('programs', seen.programs, strange(seen.programs, 'program'), [...seen.programs].sort().join(', '))
  const { host } = new URL(url)
  say('listens', seen.listening, [...seen.listening].filter((address) => address !== host), host)
  const outside = [...seen.connected].filter((address) => !address.startsWith('127.0.0.1:'))
  say('connects', seen.connected, outside, 'to this machine only')
}

async function end({ child }: ServerProcess, tell: Tell): Promise<void> {
  const before = await child.processes() ?? []
  child.signalGroup('SIGTERM')
  const { code, signal } = await child.exited
  const left = await child.processes() ?? []
  if (code !== 0) tell('ends', 'failed', `the server ended with ${signal ?? `code ${code}`} after SIGTERM`)
  else if (left.length > 0) tell('ends', 'failed', `${left.length} processes are left after the end`)
  else tell('ends', 'ok', `exit code 0 after SIGTERM, and none of ${before.length} processes is left`)
}
