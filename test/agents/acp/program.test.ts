/** Which program is started for a command: installed, on the PATH, or npx by choice. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import * as assert from 'uvu/assert'
import { AcpFailure } from '../../../src/agents/acp/session/failure.ts'
import { findProgram, type ProgramOptions } from '../../../src/agents/acp/session/program.ts'
import { AppError } from '../../../src/base/errors.ts'
import { builtInProviders } from '../../../src/settings/providers-table.ts'
import { suite } from '../../support/suite.ts'

const test = suite('acp program')
const folder = mkdtempSync(join(tmpdir(), 'program-'))
test.before(() => {
  mkdirSync(join(folder, 'bin'))
  writeFileSync(join(folder, 'bin', 'gemini'), '')
})
test.after(() => rmSync(folder, { recursive: true, force: true }))

const gemini = builtInProviders.find(({ name }) => name === 'gemini-cli') ?? raise()
const withBinary = `relative::${join(folder, 'bin')}`
const installedCommand = async (name: string): Promise<readonly string[]> => ['node', `/installed/${name}`]
const preset = [...gemini.command, '--verbose']
const older = ['npx', '@google/gemini-cli@0.46.0', '--acp']

function find(command: readonly string[], path = '/nowhere', options: ProgramOptions = {}): Promise<readonly string[]> {
  return findProgram(command, gemini, path, options)
}

test(
  'starts the installed agent for an npx command of its package in any version, with the same arguments',
  async () => {
    assert.equal(await find(preset, withBinary, { installedCommand }), [
      'node', '/installed/gemini-cli', '--acp', '--verbose',
    ])
    assert.equal(await find(older, withBinary, { installedCommand, allowNpx: true }), [
      'node', '/installed/gemini-cli', '--acp',
    ])
  },
)

test(
  'starts the program on the PATH where the agent is not installed, and looks in absolute folders only',
  async () => {
    assert.equal(await find(preset, withBinary), ['gemini', '--acp', '--verbose'])
    const inRelative = relative(process.cwd(), join(folder, 'bin'))
    assert.equal(await find(preset, inRelative, { allowNpx: true }), preset)
  },
)

test('starts npx only where it is allowed or somebody wrote the command himself', async () => {
  const failure = await find(preset).catch((error: unknown) => error)
  assert.ok(failure instanceof AcpFailure)
  assert.is(failure.code, 'ACPSpawnError')
  assert.match(
    failure.message,
    /"gemini-cli" is not installed: install it with "agent-server agents install gemini-cli", or .*--allow-npx/,
  )
  assert.equal(await find(preset, '', { allowNpx: true }), preset)
  assert.equal(await find(older), older)
})

test('leaves every other command as it is', async () => {
  for (const command of [['gemini', '--acp'], ['npx', 'other'], ['/opt/agent']]) {
    assert.equal(await find(command, withBinary, { installedCommand }), command)
  }
})

test('fails with ACPSpawnError for an installed agent that was changed, and starts nothing in its place', async () => {
  const changed = async (): Promise<never> => Promise.reject(new AppError('agent_failed', 'its file "x" was changed'))
  const failure = await find(preset, withBinary, { installedCommand: changed, allowNpx: true }).catch((
    error: unknown,
  ) => error)
  assert.ok(failure instanceof AcpFailure)
  assert.equal([failure.code, failure.message], ['ACPSpawnError', 'its file "x" was changed'])
})

function raise(): never {
  throw new Error('There is no such provider')
}

test.run()
