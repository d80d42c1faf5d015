/**
 * The Autobahn test suite as a client of `src/ws`, where it can be had: it is written for Python 2.7.
 *
 * Its cases 9 (large messages), 12 and 13 (compression, a thousand messages each) take many minutes, and are left out
 * unless asked for.
 */
import { spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { isObject } from '../../src/base/json.ts'
import { memberAt } from './member.ts'

export interface AutobahnReport {
  /** How many cases ended in which way, in the suite's words. */
  readonly counts: Readonly<Record<string, number>>
  /** The cases that were wrong, without the cases about features that are not offered. */
  readonly failed: readonly string[]
}

const shortCases = ['1.*', '2.*', '3.*', '4.*', '5.*', '6.*', '7.*', '10.*']
const allCases = ['*']
const fine = new Set(['OK', 'INFORMATIONAL', 'NON-STRICT', 'UNIMPLEMENTED'])

/** The report, or why there is none. */
export async function runAutobahn(folder: string, port: number, isLong: boolean): Promise<AutobahnReport | string> {
  const python = findPython2()
  if (python === undefined) return 'no Python 2.7 was found'
  const packages = join(folder, 'python2')
  if (!existsSync(packages)) {
    const code = await run(python, ['-m', 'pip', 'install', '--quiet', '--target', packages, 'autobahntestsuite'], {})
    if (code !== 0) return 'autobahntestsuite could not be installed'
    // pip leaves this file out where it installs into a folder, and Python 2 wants it.
    await writeFile(join(packages, 'zope', '__init__.py'), '')
  }
  const outdir = join(folder, `autobahn-${process.pid}`)
  const plan = {
    outdir, servers: [{ agent: 'ours', url: `ws://127.0.0.1:${port}` }], cases: isLong ? allCases : shortCases,
    'exclude-cases': [], 'exclude-agent-cases': {},
  }
  await writeFile(join(folder, 'autobahn.json'), JSON.stringify(plan))
  await run(
    python,
    ['-m', 'autobahntestsuite.wstest', '-m', 'fuzzingclient', '-s', join(folder, 'autobahn.json')],
    { PYTHONPATH: packages },
  )
  return readReport(join(outdir, 'index.json'))
}

async function readReport(path: string): Promise<AutobahnReport> {
  const cases = memberAt(JSON.parse(await readFile(path, 'utf8')), 'ours')
  if (!isObject(cases)) throw new Error('The report of Autobahn has another form')
  const counts: Record<string, number> = {}
  const failed: string[] = []
  for (const [name, found] of Object.entries(cases)) {
    const [behavior, close] = [String(memberAt(found, 'behavior')), String(memberAt(found, 'behaviorClose'))]
    counts[behavior] = (counts[behavior] ?? 0) + 1
    if (!fine.has(behavior) || !fine.has(close)) failed.push(`${name} ${behavior}, its end ${close}`)
  }
  return { counts, failed }
}

function findPython2(): string | undefined {
  const versions = join(homedir(), '.pyenv', 'versions')
  const ofPyenv = existsSync(versions)
    ? readdirSync(versions).filter((name) => name.startsWith('2.7')).map((name) => {
      return join(versions, name, 'bin', 'python')
    })
    : []
  return [...ofPyenv, '/usr/bin/python2.7', '/usr/local/bin/python2.7'].find(existsSync)
}

async function run(
  program: string, args: readonly string[], env: Readonly<Record<string, string>>,
): Promise<number | null> {
  const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: 'ignore' })
  return new Promise((resolve) => {
    child.once('error', () => resolve(null))
    child.once('exit', resolve)
  })
}
