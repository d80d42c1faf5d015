/**
 * A stand-in for npm: a program of that name that puts a small package where npm would, as the variable `FAKE_NPM`
 * says.
 *
 * `called.json` in the package holds the words that it was called with. The package's program is an ACP agent that
 * answers `initialize`; `native` has one that is a program by itself.
 */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Makes it in a folder and gives a PATH that begins with it. */
export function makeFakeNpm(folder: string): string {
  const bin = join(folder, 'fake-npm')
  mkdirSync(bin, { recursive: true })
  writeFileSync(join(bin, 'npm'), `#!${process.execPath}\n${script}`)
  chmodSync(join(bin, 'npm'), 0o755)
  return `${bin}${delimiter}/usr/bin${delimiter}/bin`
}

/** The agent of the tests; it exits when its input ends. */
const agent = fileURLToPath(new URL('../fixtures/acp-agent.js', import.meta.url))

const script = `
const { mkdirSync, readFileSync, writeFileSync, symlinkSync } = require('node:fs')
const { join } = require('node:path')
const args = process.argv.slice(2)
const [mode, extra = ''] = (process.env.FAKE_NPM || 'script').split(':')
const prefix = args[args.indexOf('--prefix') + 1]
// \`npm ci\` takes the packages from the project, and refuses a project that its lock does not fit.
const locked = args[0] === 'ci' ? JSON.parse(readFileSync(join(prefix, 'package-lock.json'), 'utf8')).packages : undefined
const wanted = locked && Object.entries(JSON.parse(readFileSync(join(prefix, 'package.json'), 'utf8')).dependencies)[0]
if (locked && locked['node_modules/' + wanted[0]].version !== wanted[1]) process.exit(1)
const spec = locked ? wanted.join('@') : args[1]
const name = spec.slice(0, spec.lastIndexOf('@'))
const version = mode === 'other-version' ? '9.9.9' : spec.slice(spec.lastIndexOf('@') + 1)
const folder = join(prefix, 'node_modules', name)
if (mode === 'fails') {
  process.stderr.write('npm error code E404\\nnpm error 404 Not Found\\nnpm error A complete log of this run is in x\\n')
  process.exit(1)
}
if (mode === 'hangs' || mode === 'stays') {
  if (mode === 'stays') process.on('SIGTERM', () => {})
  writeFileSync(extra, String(process.pid))
  setInterval(() => {}, 1000)
} else install()

function install() {
  mkdirSync(join(folder, 'lib'), { recursive: true })
  const programs = { native: 'bin/agent', 'no-extension': 'bin/agent', outside: '../../../agent.js', 'no-file': 'no.js' }
  const program = programs[mode] || 'agent.js'
  const bin = mode === 'no-program' ? { other: 'x' } : mode === 'one-program' ? program : { codex: 'no', 'codex-acp': program }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version, type: 'module', bin, ...(mode === 'own-script' ? { scripts: { postinstall: 'x' } } : {}) }))
  writeFileSync(join(folder, 'called.json'), JSON.stringify({ args, env: process.env, cwd: process.cwd() }))
  writeFileSync(join(folder, 'lib', 'data.js'), 'export const data = "data"\\n')
  writeFileSync(join(folder, 'lib', 'native.node'), Buffer.from('\\x7fELF and more', 'latin1'))
  mkdirSync(join(folder, 'bin'))
  writeFileSync(join(folder, 'bin', 'tool'), '#!/bin/sh\\n', { mode: 0o755 })
  const introduced = mode === 'renamed' ? '' : 'process.argv[2] ??= ' + JSON.stringify('called ' + name + ' ' + version) + '\\n'
  if (mode === 'link') symlinkSync('/etc/passwd', join(folder, 'link'))
  if (mode === 'native') writeFileSync(join(folder, 'bin', 'agent'), '#!/bin/sh\\necho native\\n', { mode: 0o755 })
  else if (mode === 'no-extension') writeFileSync(join(folder, 'bin', 'agent'), '#!/usr/bin/env node\\n')
  else writeFileSync(join(folder, 'agent.js'), mode === 'broken' ? 'process.exit(3)\\n' : introduced + ${JSON.stringify(`await import(${JSON.stringify(agent)})\n`)})
}
`
