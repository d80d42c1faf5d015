/** Runs a subcommand that a part (`part.ts`) adds, with the process's environment, streams and signals. */
import { tmpdir } from 'node:os'
import { createAgentServer } from '../agent-server.ts'
import { allParts } from '../all-parts.ts'
import { AppError } from '../base/errors.ts'
import type { CommandCall, PartCommand } from '../part.ts'
import { onInterrupt } from './signals.ts'

type Line = Pick<CommandCall, 'config' | 'words' | 'flags' | 'given' | 'exposedFiles'>

/**
 * Runs the command and returns its exit code. If it has `interruptedWords`, an interruption (such as SIGINT) aborts its
 * `signal`.
 * @throws the errors of the command
 */
export async function runPartCommand(
  command: PartCommand,
  { config, words, flags, given, exposedFiles }: Line,
): Promise<number> {
  const { run } = await command.load()
  const ended = new AbortController()
  const { interruptedWords } = command
  const stopListening = interruptedWords === undefined ? undefined : onInterrupt(ended, interruptedWords)
  try {
    return await run({
      config,
      words,
      flags,
      given,
      exposedFiles,
      environment: process.env,
      temporaryDir: tmpdir(),
      print: (text) => process.stdout.write(text),
      tell: (text) => process.stderr.write(text),
      input: () => process.stdin,
      output: writeBytes,
      signal: ended.signal,
      parts: allParts,
      openServer: () => createAgentServer({ ...config, environment: process.env }),
    })
  } finally {
    stopListening?.()
  }
}

function writeBytes(bytes: Uint8Array): Promise<void> {
  const expected = 'expected a file or a pipe as standard output'
  if (process.stdout.isTTY) throw new AppError('invalid_option', `Could not write to a terminal: ${expected}`)
  return new Promise((resolve, reject) => {
    process.stdout.write(bytes, (error) => error == null ? resolve() : reject(error))
  })
}
