/**
 * `npm start`: runs the built server. Plain JavaScript, because it must be able to say what to do when nothing is built.
 */
import { existsSync } from 'node:fs'

const main = new URL('../dist/agent-server.js', import.meta.url)
if (existsSync(main)) {
  await import(main.href)
} else {
  process.stderr.write('agent-server: not built yet. Run: npm ci (or npm run build)\n')
  process.exitCode = 1
}
