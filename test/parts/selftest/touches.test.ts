/** The list of the things that a running server touches: its names, with folders in place of the braces. */
import * as assert from 'uvu/assert'
import { findTouch, type Places, type Touch } from '../../../src/parts/selftest/touches.ts'
import { suite } from '../../support/suite.ts'

const test = suite('selftest touches')
const places: Places = {
  data: '/srv/data', work: '/srv/work', program: '/opt/src', home: '/home/me', path: ['/usr/bin', '/opt/bin'],
}

const named: readonly (readonly [Touch['kind'], string])[] = [
  ['change', '/srv/data'], ['change', '/srv/data/conversations/x/events.jsonl'], ['read', '/opt/src/cli/main.js'],
  ['read', '/proc/12/stat'], ['read', '/opt/bin/git'], ['read', '/lib64/ld.so'], ['program', 'flock'],
  ['change', '/sys/fs/cgroup/a/b/agent-server.x/cgroup.procs'], ['change', '/dev/shm/agent-server-1/shell/prompt'],
]
const unnamed: readonly (readonly [Touch['kind'], string])[] = [
  ['change', '/srv/database'], ['change', '/srv'], ['change', '/opt/src/cli/main.js'], ['read', '/proc/12/mem'],
  ['read', '/opt/bin/a/b'], ['read', '/etc/shadow'], ['read', '/home/me/.ssh/id'], ['program', 'curl'],
  ['change', '/dev/shm/other'], ['change', '/srvXdata/x'],
]

for (const [kind, name] of named) {
  test(`names ${name} to ${kind}`, () => assert.is(findTouch([kind], name, places)?.kind, kind))
}
for (const [kind, name] of unnamed) {
  test(`does not name ${name} to ${kind}`, () => assert.is(findTouch([kind], name, places), undefined))
}

const asked: Places = { ...places, runtime: '/run/user/7', workingDir: '/srv/own' }
const onlyAsked: readonly (readonly [Touch['kind'], string])[] = [
  ['change', '/srv/own/.git/HEAD'], ['read', '/home/me/.agents/skills/a/SKILL.md'], ['program', 'git'],
]
for (const [kind, name] of onlyAsked) {
  test(`names ${name} to ${kind} only where requests ask for it`, () => {
    assert.is(findTouch([kind], name, asked)?.kind, kind)
    assert.is(findTouch([kind], name, places), undefined)
  })
}

test('names the folder in memory where the environment has one', () => {
  assert.ok(findTouch(['change'], '/run/user/7/agent-server-1/lent-a', asked))
  assert.not(findTouch(['change'], '/run/user/7/other', asked))
  assert.not(findTouch(['change'], '/agent-server-1/lent-a', places))
})

test('lets no row match whose braces stand for no folder', () => {
  for (const name of ['{files}', '{agent}', '/', '.']) assert.not(findTouch(['change', 'program'], name, asked))
})

test.run()
