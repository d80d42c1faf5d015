/**
 * The limit of ending agents: a parent that starts so many programs, each in the midst of a turn, and at SIGTERM ends
 * them and waits for each.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'

const [, , program = '', count = '1'] = process.argv
const prompt = { jsonrpc: '2.0', id: 0, method: 'session/prompt', params: { text: 'delta 100000' } }

const children = Array.from({ length: Number(count) }, () => {
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'ignore'] })
  child.stdout.resume()
  child.stdin.write(`${JSON.stringify(prompt)}\n`)
  return child
})

process.once('SIGTERM', async () => {
  await Promise.all(children.map(async (child) => {
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  }))
  process.exit(0)
})
