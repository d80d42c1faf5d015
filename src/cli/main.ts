#!/usr/bin/env node
/**
 * The program `agent-server`: reads the command line and runs one subcommand.
 *
 * A failure is reported on standard error, except a failed write to a closed output. `--help` documents the exit codes.
 */
import { allParts } from '../all-parts.ts'
import { AppError, messageOf, type ErrorCode } from '../base/errors.ts'
import { readFileSync, statSync } from '../base/read-files.ts'
import type { PartCommand } from '../part.ts'
import { version } from '../version.ts'
import { runPartCommand } from './part-command.ts'
import { formatHelp, helpTopics } from './help.ts'
import { printConfig } from './config.ts'
import { printKey } from './key.ts'
import { parseOptions, type ParsedCommandLine } from './options.ts'
import { serve } from './serve.ts'
import { isReaderGone, surviveLostStreams } from './signals.ts'
import { verify } from './verify.ts'

const coreCommands = ['serve', 'verify', 'config', 'key'] as const
type CoreCommand = (typeof coreCommands)[number]

const partCommands = new Map(allParts.flatMap(({ commands = {} }) => Object.entries(commands)))

type Command =
  | { readonly kind: 'core'; readonly name: CoreCommand }
  | { readonly kind: 'part'; readonly name: string; readonly command: PartCommand }

/** The flags of each core command besides the server's options. A `value` flag is followed by a value. */
const coreFlags: Readonly<Record<CoreCommand, Readonly<Record<string, 'switch' | 'value'>>>> = {
  serve: {},
  verify: { expect: 'value', json: 'switch' },
  config: { json: 'switch' },
  key: { show: 'switch' },
}

/** The exit codes by error code; any other failure gives 1. `--help` documents them. */
const exitCodes: Partial<Record<ErrorCode, number>> = {
  invalid_option: 2,
  bad_request: 2,
  cannot_listen: 3,
  owned_by_another: 4,
  format_unsupported: 5,
  storage_failed: 5,
  storage_full: 5,
  settings_unreadable: 5,
}

/** Subcommands of `sealing-keys` that also work under its old name `keys`. */
const oldSealingWords: readonly string[] = ['rotate', 'reseal', 'forget']

process.exitCode = await main()

async function main(): Promise<number> {
  surviveLostStreams()
  try {
    const { command, argv, isNamed } = commandOf(process.argv.slice(2))
    const line = parseOptions({
      argv,
      environment: process.env,
      readFile: (path) => readFileSync(path, 'utf8'),
      modeOf,
      currentDir: process.cwd(),
      commandFlags: command.kind === 'core' ? coreFlags[command.name] : command.command.flags,
    })
    if (line.kind === 'help') return printHelp(isNamed ? [command.name, ...line.words] : line.words)
    return await run(command, line)
  } catch (thrown) {
    if (isReaderGone(thrown)) return 1
    process.stderr.write(`agent-server: ${messageOf(thrown)}\n`)
    return thrown instanceof AppError ? (exitCodes[thrown.code] ?? 1) : 1
  }
}

async function run(command: Command, line: Exclude<ParsedCommandLine, { kind: 'help' }>): Promise<number> {
  if (line.kind === 'run') return runCommand(command, line)
  process.stdout.write(`agent-server ${version}\n`)
  return 0
}

/**
 * Prints help on the last word that is a topic. Without words, prints the text with all options.
 * @throws AppError `invalid_option` for words without a topic
 */
function printHelp(words: readonly string[]): number {
  const topic = words.findLast((word) => helpTopics.includes(word))
  const [word] = words
  if (topic === undefined && word !== undefined) {
    throw new AppError('invalid_option', `Could not find help on "${word}": expected one of ${helpTopics.join(', ')}`)
  }
  process.stdout.write(formatHelp(topic))
  return 0
}

function modeOf(path: string): number | undefined {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats?.isFile() === true ? stats.mode : undefined
}

async function runCommand(command: Command, line: Extract<ParsedCommandLine, { kind: 'run' }>): Promise<number> {
  if (command.kind === 'part') return runPartCommand(command.command, line)
  const { config, words, flags, exposedFiles, origins } = line
  const asJson = flags['json'] === 'true'
  switch (command.name) {
    case 'serve': return serve(config, words, exposedFiles)
    case 'verify': return verify({ config, ids: words, expect: flags['expect'], asJson })
    case 'config': return printConfig({ config, origins, words, asJson })
    case 'key': return printKey(config, words, flags['show'] === 'true')
  }
}

interface NamedCommand {
  readonly command: Command
  readonly argv: readonly string[]
  /** True when the first word named the command; false for the default command `serve`. */
  readonly isNamed: boolean
}

/**
 * Returns the command that the first word names. The default is `serve`. The word `help` means `--help`.
 * @throws AppError `invalid_option` for an unknown word
 */
function commandOf(argv: readonly string[]): NamedCommand {
  const [word = '', ...rest] = argv
  const isOldName = word === 'keys' && oldSealingWords.includes(rest[0] ?? '')
  const first = isOldName ? 'sealing-keys' : word
  const name = coreCommands.find((known) => known === first)
  if (name !== undefined) return { command: { kind: 'core', name }, argv: rest, isNamed: true }
  const command = partCommands.get(first)
  if (command !== undefined) return { command: { kind: 'part', name: first, command }, argv: rest, isNamed: true }
  const usual: Command = { kind: 'core', name: 'serve' }
  if (first === 'help') return { command: usual, argv: ['--help', ...rest], isNamed: false }
  if (first !== '' && !first.startsWith('-')) {
    const known = [...coreCommands, ...partCommands.keys()].join(', ')
    throw new AppError('invalid_option', `Could not find the command "${first}": expected one of ${known}`)
  }
  return { command: usual, argv, isNamed: false }
}
