/**
 * `npm start`: runs the built program, or the source where nothing is built and this Node strips types (22.18 and
 * later).
 * Plain JavaScript, because it says what to do when neither is possible.
 */
import { existsSync } from 'node:fs'

const program = new URL('../dist/agent-server.js', import.meta.url)
const source = new URL('../src/cli/main.ts', import.meta.url)

if (existsSync(program)) {
  await import(program.href)
} else if (process.features.typescript) {
  await import(source.href)
} else {
  process.stderr.write('agent-server: not built. Run: npm ci --include=dev, or use Node 22.18 or later, which needs no build\n')
  process.exitCode = 1
}
