/** Runs the command of a part, with the process's environment, streams and signals. */
import { tmpdir } from 'node:os'
import { createAgentServer } from '../agent-server.ts'
import { allParts } from '../all-parts.ts'
import type { CommandCall, PartCommand } from '../part.ts'
import { onInterrupt } from './signals.ts'

type Line = Pick<CommandCall, 'config' | 'words' | 'flags' | 'exposedFiles'>

/** Returns the exit code. @throws the errors of the command, and AppError `unavailable` when a signal ends it */
export async function runPartCommand(
  command: PartCommand,
  { config, words, flags, exposedFiles }: Line,
): Promise<number> {
  const { run } = await command.load()
  const ended = new AbortController()
  const stopListening = onInterrupt(ended, command.interruptedWords)
  try {
    return await run({
      config,
      words,
      flags,
      exposedFiles,
      environment: process.env,
      temporaryDir: tmpdir(),
      print: (text) => process.stdout.write(text),
      tell: (text) => process.stderr.write(text),
      signal: ended.signal,
      parts: allParts,
      openServer: () => createAgentServer({ ...config, environment: process.env }),
    })
  } finally {
    stopListening()
  }
}
