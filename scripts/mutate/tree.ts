/**
 * One copy of the tree: it can be built, changed by one mutation at a time, and run a test.
 *
 * It is built as everywhere, by scripts/build, which compiles the changed files and joins the program again: tests of
 * the whole server run `dist/agent-server.js`.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runNode } from './command.ts'
import { applyEdit, type Mutation } from './mutation.ts'
import { testEndOf, type TestEnd } from './test-end.ts'
import type { Workshop } from './workshop.ts'

const buildLimitMs = 300_000

export class Tree {
  readonly folder: string
  readonly #workshop: Workshop
  #changed: { readonly path: string; readonly text: string } | undefined

  constructor(workshop: Workshop, folder: string) {
    this.#workshop = workshop
    this.folder = folder
  }

  /** Why the edit does not apply; undefined when it was made. Takes back the edit before. */
  mutate(mutation: Mutation): string | undefined {
    this.#restore()
    const path = join(this.folder, mutation.file)
    const text = readFileSync(path, 'utf8')
    const edit = applyEdit(text, mutation)
    if (!edit.ok) return edit.reason
    this.#changed = { path, text }
    writeFileSync(path, edit.text)
    return undefined
  }

  /** Compiles the changed files. Returns the output of the compiler; undefined when all went well. */
  async build(): Promise<string | undefined> {
    const { code, output } = await runNode(['scripts/build.mjs'], { folder: this.folder, limitMs: buildLimitMs })
    return code === 0 ? undefined : output.trim().split('\n').slice(0, 3).join('\n')
  }

  /** Runs one test file up to its first failure. */
  test(file: string, limitMs: number): Promise<TestEnd> {
    const compiled = join('dist', file.replace(/\.ts$/, '.js'))
    return this.#workshop.withTemporary(async (folder) => {
      const env = { TMPDIR: folder, TEST_FIRST_FAILURE: '1' }
      return testEndOf(await runNode(['--enable-source-maps', compiled], { folder: this.folder, env, limitMs }))
    })
  }

  #restore(): void {
    if (this.#changed !== undefined) writeFileSync(this.#changed.path, this.#changed.text)
    this.#changed = undefined
  }
}
