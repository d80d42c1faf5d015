/** The commands `backup` and `restore` for tests, run in this process. */
import { AppError } from '../../../src/base/errors.ts'
import { createConfig } from '../../../src/config.ts'
import type { CommandCall } from '../../../src/part.ts'
import { runBackup, runRestore } from '../../../src/parts/backup/commands.ts'

export interface CommandEnd {
  readonly code: number
  readonly printed: string
  readonly told: string
  /** The bytes on standard output besides `printed`. */
  readonly bytes: Buffer
}

export interface CommandLine {
  readonly flags?: Readonly<Record<string, string>>
  readonly map?: readonly string[]
  readonly input?: AsyncIterable<Uint8Array>
}

/** Runs `backup` with a target. */
export function backUpTo(dataDir: string, to: string, line: CommandLine = {}): Promise<CommandEnd> {
  return run(runBackup, dataDir, [to], line)
}

/** Runs `restore` with a backup, and `--to` unless the flags have it. */
export function restoreTo(from: string, to: string, line: CommandLine = {}): Promise<CommandEnd> {
  return run(runRestore, to, [from], { ...line, flags: { to, ...line.flags } })
}

export async function run(
  command: (call: CommandCall) => Promise<number>, dataDir: string, words: readonly string[], line: CommandLine = {},
): Promise<CommandEnd> {
  const { flags = {}, map = [], input } = line
  let [printed, told] = ['', '']
  const bytes: Buffer[] = []
  const given = { ...Object.fromEntries(Object.entries(flags).map(([name, value]) => [name, [value]])) }
  const code = await command({
    config: createConfig({ dataDir, workspaceDir: `${dataDir}-work` }), words, flags,
    given: { ...given, 'workspace-map': map }, exposedFiles: [], environment: {}, temporaryDir: '/tmp',
    print: (text) => void (printed += text), tell: (text) => void (told += text),
    input: () => input ?? nothing(), output: async (part) => void bytes.push(Buffer.from(part)),
    signal: new AbortController().signal, parts: [],
    openServer: () => Promise.reject(new Error('a backup opens no server')),
  })
  return { code, printed, told, bytes: Buffer.concat(bytes) }
}

/** The bytes in pieces of odd sizes, as a pipe may give them. */
export async function* inPieces(bytes: Buffer): AsyncGenerator<Buffer, void> {
  for (let at = 0, size = 1; at < bytes.length; at += size, size = (size * 7) % 9973 + 1) {
    yield bytes.subarray(at, at + size)
  }
}

async function* nothing(): AsyncGenerator<Uint8Array, void> { /* empty */ }

/** Returns the code and the message of the AppError of work that must fail. */
export async function refusal(work: Promise<unknown>): Promise<string> {
  try {
    await work
  } catch (thrown) {
    if (thrown instanceof AppError) return `${thrown.code}: ${thrown.message}`
    throw thrown
  }
  throw new Error('It was not refused')
}
