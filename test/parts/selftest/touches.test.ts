/** The list of what a running server touches: its names, with folders in place of the braces. */
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

test.run()
