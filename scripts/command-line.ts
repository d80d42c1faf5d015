/**
 * The command lines of the scripts: `--help`, flags and words, the same way in each.
 *
 * A script describes its flags and words and calls `commandLine` before anything else. `--help` prints the description
 * and exits with 0. An unknown flag, a missing value or an unexpected word prints one line and exits with 2, without a
 * stack. The scripts check the rest, and call `refuse` for a word that they cannot use. A script whose output has no
 * reader any more, as in `npm run audit | head -1`, ends without a message. Output that cannot be written for another
 * reason, as on a full disk, is a failure with a line of its own.
 */
import { parseArgs } from 'node:util'

export interface Flag {
  /** The name of the flag's value in the help, such as `FOLDER`; a flag without it is a switch. */
  readonly value?: string
  /** True when the flag may be given more than once. */
  readonly isRepeated?: boolean
  readonly help: string
}

export interface Words {
  /** The name of a word in the usage line, such as `NAME`. */
  readonly name: string
  readonly help: string
  /** The words that can be used; every word can without it. */
  readonly choices?: readonly string[]
  /** True when at least one word has to be given. */
  readonly isRequired?: boolean
  /** The most words. Default: no limit. */
  readonly limit?: number
}

export interface Script<Name extends string> {
  /** The command without its arguments, such as `npm run bench`. */
  readonly command: string
  /** Sentences that describe the work and the needs of the script; ends with a full stop. */
  readonly help: string
  readonly flags?: Readonly<Record<Name, Flag>>
  /** The arguments that are not flags; without them every word is refused. */
  readonly words?: Words
}

export interface Given<Name extends string> {
  readonly words: readonly string[]
  /** The values of the given flags; a switch has one empty value. */
  readonly flags: Partial<Record<Name, readonly string[]>>
}

export type Reading<Name extends string> =
  | ({ readonly kind: 'run' } & Given<Name>)
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'refused'; readonly problem: string }

/** Reads the arguments of this process. Exits after `--help`, and when the arguments cannot be used. */
export function commandLine<Name extends string = never>(script: Script<Name>): Given<Name> {
  process.stdout.on('error', endWithoutOutput)
  const reading = readCommandLine(script, process.argv.slice(2))
  if (reading.kind === 'run') return reading
  if (reading.kind === 'refused') return refuse(reading.problem)
  process.stdout.write(reading.text)
  // Files are written at once, and an error of theirs is told only later.
  const { errored } = process.stdout
  if (errored !== null) tellOfOutput(errored)
  return process.exit()
}

let isEnding = false

/**
 * Ends the script when its output cannot be written: by the exit code that it has set when nobody reads it, or 1 while
 * it is at work, and by 1 for every other reason. A script that listens to SIGTERM gets that signal, so that it cleans
 * up. Each later write is an error again, and must not disturb the cleaning.
 */
function endWithoutOutput(error: NodeJS.ErrnoException): void {
  if (isEnding) return
  isEnding = true
  if (error.code !== 'EPIPE') tellOfOutput(error)
  if (process.listenerCount('SIGTERM') > 0) process.kill(process.pid, 'SIGTERM')
  else process.exit(process.exitCode ?? 1)
}

function tellOfOutput({ message }: Error): void {
  process.stderr.write(`Could not write the output: ${message}\n`)
  process.exitCode = 1
}

/** Prints one line to standard error and exits with 2. */
export function refuse(problem: string): never {
  process.stderr.write(`${problem}\n`)
  process.exit(2)
}

export function readCommandLine<Name extends string>(script: Script<Name>, args: readonly string[]): Reading<Name> {
  const flags = flagsOf(script)
  const options = Object.fromEntries(flags.map(([name, { value }]) => {
    return [name, { type: value === undefined ? 'boolean' as const : 'string' as const }]
  }))
  const { tokens } = parseArgs({
    args: args.map((arg) => (arg === '-h' ? '--help' : arg)), options, strict: false, tokens: true,
  })
  const given: Given<Name> & { readonly words: string[] } = { words: [], flags: {} }
  for (const token of tokens) {
    if (token.kind === 'positional') given.words.push(token.value)
    if (token.kind !== 'option') continue
    if (token.name === 'help') return { kind: 'help', text: describe(script) }
    const found = flags.find(([name]) => name === token.name)
    const problem = found === undefined ? 'there is no such flag' : problemOf(found[1], token.value)
    if (found === undefined || problem !== undefined) return refusal(script, token.rawName, problem ?? '')
    given.flags[found[0]] = [...given.flags[found[0]] ?? [], token.value ?? '']
  }
  return checkWords(script, given)
}

function problemOf({ value }: Flag, given: string | undefined): string | undefined {
  if (value === undefined) return given === undefined ? undefined : 'it takes no value'
  return given === undefined || given === '' ? `expected ${value}` : undefined
}

function checkWords<Name extends string>(script: Script<Name>, given: Given<Name>): Reading<Name> {
  const { words } = given
  const { choices, isRequired, limit = Infinity, name = '' } = script.words ?? { limit: 0 }
  const extra = words[limit]
  if (extra !== undefined) return refusal(script, `"${extra}"`, 'no more words are taken')
  const unknown = choices === undefined ? undefined : words.find((word) => !choices.includes(word))
  if (unknown !== undefined) return refusal(script, `"${unknown}"`, `expected ${choices?.join(', ')}`)
  if (isRequired && words.length === 0) return refusal(script, 'the command', `expected ${name}`)
  return { kind: 'run', ...given }
}

function refusal(script: Script<string>, subject: string, problem: string): Reading<never> {
  return { kind: 'refused', problem: `Could not use ${subject}: ${problem}. See: ${withArguments(script)} --help` }
}

function describe(script: Script<string>): string {
  const { words, help } = script
  const flags = flagsOf(script)
  const shown = flags.map(([name, { value, isRepeated }]) => {
    return `[--${name}${value === undefined ? '' : ` ${value}`}]${isRepeated ? ' ...' : ''}`
  })
  const word = words === undefined ? [] : [usageOf(words)]
  const usage = flags.length + word.length === 0 ? script.command : [withArguments(script), ...word, ...shown].join(' ')
  const rows = [
    ...(words === undefined ? [] : [[words.name, words.help] as const]),
    ...flags.map(([name, { value, help: about }]) => {
      return [`--${name}${value === undefined ? '' : ` ${value}`}`, about] as const
    }),
    ['--help', 'Print this help'] as const,
  ]
  const width = Math.max(...rows.map(([name]) => name.length))
  const lines = rows.map(([name, about]) => `  ${name.padEnd(width)}  ${about}\n`)
  return `${help}\n\nUsage: ${usage}\n\n${lines.join('')}`
}

/** npm hands on the arguments behind `--`. */
function withArguments({ command }: Script<string>): string {
  return command.startsWith('npm ') ? `${command} --` : command
}

function usageOf({ name, isRequired, limit }: Words): string {
  const repeated = limit === 1 ? name : `${name} ...`
  return isRequired ? repeated : `[${repeated}]`
}

function flagsOf<Name extends string>({ flags }: Script<Name>): [Name, Flag][] {
  const known = flags ?? {}
  return Object.entries<Flag>(known).flatMap(([name, flag]) => (isNameIn(known, name) ? [[name, flag]] : []))
}

function isNameIn<Name extends string>(flags: Partial<Record<Name, Flag>>, name: string): name is Name {
  return name in flags
}
