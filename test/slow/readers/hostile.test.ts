/**
 * Every attack of test/load/attacks with up to 10,000 connections. Prints the cost of each, and for floods how a bare
 * server of node:http answers under the same flood: Node takes one connection in a turn of the event loop, and others
 * wait in the system.
 */
import * as assert from 'uvu/assert'
import { attacks, makeTarget } from '../../load/attacks.ts'
import { runAttack } from '../../load/hostile.ts'
import { startBareServer } from '../../load/measures.ts'
import { withPrograms } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'

const test = suite('slow/readers/hostile', 1_200_000)
const largest = Number(process.env['CONNECTIONS'] ?? 10_000)
const seconds = Number(process.env['SECONDS'] ?? 15)
const memoryLimitBytes = 200 * 1024 * 1024

test(
  'no attack costs more than 200 MB, keeps others waiting for an answer, or leaves a handle',
  withPrograms(async (start) => {
    const server = await start()
    const [bare, attacked] = [await startBareServer(), await startBareServer()]
    try {
      const target = await makeTarget(server, largest)
      process.stdout.write(`Node ${process.versions.node}, up to ${largest} connections, ${seconds} s each\n`)
      process.stdout.write(
        'attack | connections | memory MB (at most 200) | /health p99 ms | bare p99 ms | ratio (at most 3) | of an ' +
          'attacked bare server\n',
      )
      for (const attack of attacks) {
        const options = { bareUrl: bare.url, largest, seconds }
        const { what, connections, memory, ours, bare: idle } = await runAttack(attack, {
          ...options, target, pid: server.child.pid,
        })
        const figures = [
          connections, (memory / 2 ** 20).toFixed(0), ours.toFixed(1), idle.toFixed(1), (ours / idle).toFixed(2),
        ]
        process.stdout.write([what, ...figures].join(' | '))
        if (attack.isFlood) {
          const other = await runAttack(attack, {
            ...options, target: { ...target, server: { url: attacked.url, key: server.key } }, pid: attacked.pid,
          })
          process.stdout.write(` | ${(other.ours / other.bare).toFixed(2)}`)
        }
        process.stdout.write('\n')
        assert.ok(memory <= memoryLimitBytes, what)
      }
    } finally {
      bare.stop()
      attacked.stop()
    }
  }),
)

test.run()
