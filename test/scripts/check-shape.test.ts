import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'

const test = suite('check-shape')
const script = fileURLToPath(new URL('../../scripts/check-shape.js', import.meta.url))
const root = mkdtempSync(join(tmpdir(), 'check-shape-'))
test.after(() => rmSync(root, { recursive: true }))

function run(files: Record<string, string>): { status: number | null; lines: string[] } {
  rmSync(root, { recursive: true })
  for (const folder of ['src', 'scripts', 'test']) mkdirSync(join(root, folder), { recursive: true })
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const { status, stdout } = spawnSync(process.execPath, [script, root], { encoding: 'utf8' })
  return { status, lines: stdout.trimEnd().split('\n').filter((line) => !line.includes('warning:')) }
}

test('ends with 0 when there are only warnings', () => {
  const { status, lines } = run({
    'src/base/a.ts': '/**\n * One.\n * Two.\n * Three.\n */\n', 'test/notes.txt': 'eval(a)',
  })
  assert.is(status, 0)
  assert.match(lines.join('\n'), /^1 files, 0 failures, \d+ warnings$/)
})

test('prints each finding and ends with 1 when there is one', () => {
  const { status, lines } = run({ 'scripts/a.ts': 'a!\n', 'SECURITY.md': '# Security\n' })
  assert.is(status, 1)
  assert.is(lines.length, 3)
  assert.match(lines[0] ?? '', /^scripts\/a\.ts:1: non-null: /)
  assert.match(lines[1] ?? '', /^SECURITY\.md:1: security-table: /)
})

test.run()
