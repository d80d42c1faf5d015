/** The stderr of an agent that sends nothing else. */
import * as assert from 'uvu/assert'
import { Silence } from '../../../src/agents/acp/turn/silence.ts'
import { suite } from '../../support/suite.ts'
import { manualTimers } from './manual-timers.ts'

const test = suite('acp silence')

interface Watched {
  readonly told: (string | undefined)[]
  readonly timers: ReturnType<typeof manualTimers>
  readonly silence: Silence
  stderr: string
  isWaiting: boolean
}

function watch(before = ''): Watched {
  const told: (string | undefined)[] = []
  const timers = manualTimers()
  const watched = { stderr: before, isWaiting: false }
  const silence = new Silence({
    timers,
    stderrTail: () => watched.stderr,
    isWaiting: () => watched.isWaiting,
    idleTalk: /^\[perf\]/,
    everyMs: 1000,
    tell: (trouble) => void told.push(trouble),
  })
  return Object.assign(watched, { told, timers, silence })
}

test('tells what is new, once, and takes it back with the next word', () => {
  const watched = watch('old\n')
  watched.timers.advanceTo(5000)
  assert.equal(watched.told, [])
  watched.stderr += 'ERROR 500\n[perf] slow\n'
  watched.timers.advanceTo(6000)
  watched.timers.advanceTo(9000)
  assert.equal(watched.told, ['ERROR 500'])
  watched.silence.heard()
  watched.silence.heard()
  assert.equal(watched.told, ['ERROR 500', undefined])
})

test('tells nothing of an agent that speaks, waits for somebody, or tells of no trouble', () => {
  const watched = watch()
  watched.stderr += 'one\n'
  watched.silence.heard()
  watched.timers.advanceTo(1000)
  watched.stderr += 'two\n'
  watched.isWaiting = true
  watched.timers.advanceTo(2000)
  watched.isWaiting = false
  watched.stderr += '[perf] three\n'
  watched.timers.advanceTo(3000)
  assert.equal(watched.told, [])
})

test('finds what is new in a tail of which the beginning is gone, and cuts it', () => {
  const watched = watch(`${'a'.repeat(1000)}${'b'.repeat(300)}`)
  watched.stderr = `${'b'.repeat(300)}new`
  watched.timers.advanceTo(1000)
  watched.stderr = 'x'.repeat(100_000)
  watched.timers.advanceTo(2000)
  assert.equal(watched.told, ['new', `...${'x'.repeat(297)}`])
})

test('ends its timer, and takes back what it told', () => {
  const watched = watch()
  watched.stderr = 'ERROR'
  watched.timers.advanceTo(1000)
  watched.silence.close()
  watched.silence.close()
  assert.is(watched.timers.waiting, 0)
  assert.equal(watched.told, ['ERROR', undefined])
})

test.run()
