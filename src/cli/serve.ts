/**
 * `agent-server serve`: runs a server until a signal ends it.
 *
 * A ready server prints its address on standard output, the path of a session key that it made, and with the part
 * `console` an address that opens the console. Its log goes to standard error. The first SIGTERM, SIGINT or SIGHUP
 * pauses the running conversations and ends the server with exit code 0. A second signal ends it at once.
 */
import { createAgentServer } from '../agent-server.ts'
import { createLog } from '../base/log.ts'
import { deferred } from '../base/wait.ts'
import type { Config } from '../config.ts'
import { assertNoWords } from '../option.ts'
import { onCrash, onSignals } from './signals.ts'
import { withModulePlaces } from './stack-places.ts'

/** Runs the command. @throws AppError `invalid_option` for a word, the errors of `createAgentServer`, `listen` */
export async function serve(
  config: Config,
  words: readonly string[],
  exposedFiles: readonly string[],
): Promise<number> {
  assertNoWords('serve', words)
  const ended = deferred<'signal' | 'lost'>()
  const server = await createAgentServer({
    ...config,
    environment: process.env,
    writeLog: (line) => process.stderr.write(withModulePlaces(line)),
    onLost: () => ended.resolve('lost'),
  })
  const log = createLog({
    write: (line) => process.stderr.write(line),
    level: config.logLevel,
    clock: Date.now,
    mask: (line) => server.mask(line),
  })
  for (const path of exposedFiles) log.warn('Other users may read a file with keys: expected chmod 600', { path })
  const stopListening = onSignals(() => ended.resolve('signal'))
  const stopWatching = onCrash((words) => process.stderr.write(`${withModulePlaces(server.mask(words))}\n`))
  try {
    const { url } = await server.listen()
    const key = server.sessionKeyPath === undefined ? '' : ` (session key in ${server.sessionKeyPath})`
    process.stdout.write(`Agent Server listening on ${url}${key}\n`)
    const address = await server.consoleAddress(url)
    if (address !== undefined) process.stdout.write(`Console: ${address}\n`)
    return (await ended.promise) === 'lost' ? 4 : 0
  } finally {
    await server.close()
    stopListening()
    stopWatching()
  }
}
