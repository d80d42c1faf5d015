/** A thousand commands: memory and handles stay flat. Run it with `--expose-gc`. */
import { suite } from '../../support/suite.ts'
import * as assert from 'uvu/assert'
import { readdirSync } from 'node:fs'
import { sweep, withTerminal } from '../../parts/builtin/workspace/terminals.ts'

const test = suite('slow/workspace/terminal', 600_000)
test.after(sweep)

interface Footprint {
  readonly heapBytes: number
  readonly descriptors: number
  readonly resources: number
}

test(
  'costs nothing that stays for each command',
  () => withTerminal({ secrets: ['s3cret-value'] }, async ({ run, runtimeDir }) => {
    const after = async (count: number): Promise<Footprint> => {
      for (let index = 0; index < count; index++) {
        const result = await run(`echo $TOKEN; seq ${index % 100 === 0 ? 20_000 : 50}`, {
          env: { TOKEN: 's3cret-value' },
        })
        assert.is(result.exitCode, 0)
      }
      return footprint()
    }
    const first = await after(200)
    const last = await after(800)
    process.stdout.write(`after 200 commands ${JSON.stringify(first)}, after 1,000 ${JSON.stringify(last)}\n`)
    assert.ok(last.heapBytes < first.heapBytes * 1.1)
    assert.is(last.descriptors, first.descriptors)
    assert.is(last.resources, first.resources)
    const [folder = ''] = readdirSync(runtimeDir)
    assert.equal(readdirSync(`${runtimeDir}/${folder}`), ['prompt'])
  }),
)

function footprint(): Footprint {
  global.gc?.()
  return {
    heapBytes: process.memoryUsage().heapUsed,
    descriptors: readdirSync('/proc/self/fd').length,
    resources: process.getActiveResourcesInfo().filter((name) => name !== 'Timeout').length,
  }
}

test.run()
