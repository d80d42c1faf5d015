/**
 * `agent-server serve`: runs a server until a signal ends it or its lock on the data folder is lost.
 *
 * Standard output shows the server's address. The server log goes to standard error or to `--log-file`. After SIGTERM
 * runs may finish for `--drain-seconds`. If the server log or the access log is a file, SIGHUP opens the log files
 * again and does not end the server.
 */
import { createAgentServer, type AgentServer } from '../agent-server.ts'
import { createLog, type Log } from '../base/log.ts'
import { LogFiles, type LogOutput } from '../base/log-files.ts'
import { deferred } from '../base/wait.ts'
import type { Config } from '../config.ts'
import { assertNoWords } from '../option.ts'
import { onCrash, onSignals, type EndSignal } from './signals.ts'
import { withModulePlaces } from './stack-places.ts'

/**
 * Runs the server and returns the exit code.
 * @throws AppError `invalid_option`; the errors of `createAgentServer` and `listen`
 */
export async function serve(
  config: Config,
  words: readonly string[],
  exposedFiles: readonly string[],
): Promise<number> {
  assertNoWords('serve', words)
  const logFiles = new LogFiles({
    writeOutput: (line) => process.stdout.write(line),
    tell: (problem) => logTo(config, writeError, (line) => line).warn(problem),
  })
  const file = config.logFile === undefined ? undefined : await logFiles.open('server', config.logFile)
  try {
    return await serveWith(config, { logFiles, file, exposedFiles })
  } finally {
    await file?.close()
  }
}

interface Outputs {
  readonly logFiles: LogFiles
  /** The output for `--log-file`: a file, or standard output for `-`; undefined when the log goes to standard error. */
  readonly file: LogOutput | undefined
  readonly exposedFiles: readonly string[]
}

async function serveWith(config: Config, { logFiles, file, exposedFiles }: Outputs): Promise<number> {
  const ended = deferred<EndSignal | 'lost'>()
  const lost = deferred<'lost'>()
  const writeLog = file === undefined ? writeError : (line: string): void => file.write(withModulePlaces(line))
  const onLost = (): void => {
    ended.resolve('lost')
    lost.resolve('lost')
  }
  const server = await createAgentServer({ ...config, environment: process.env, writeLog, logFiles, onLost })
  const log = logTo(config, writeLog, (line) => server.mask(line))
  for (const path of exposedFiles) log.warn('Other users may read a file with keys: expected chmod 600', { path })
  const reopen = (): void => {
    void logFiles.reopen().then(() => log.info('The log files were opened again'))
  }
  const stopListening = onSignals(ended.resolve, logFiles.isUsed ? reopen : undefined)
  const stopWatching = onCrash((words) => {
    const line = `${server.mask(words)}\n`
    writeError(line)
    file?.writeNow(withModulePlaces(line))
  })
  try {
    await listen(server)
    let reason: EndSignal | 'lost' | void = await ended.promise
    if (reason === 'SIGTERM' && config.drainSeconds > 0) {
      reason = await Promise.race([lost.promise, server.drain(config.drainSeconds * 1000)])
    }
    return reason === 'lost' ? 4 : 0
  } finally {
    await server.close()
    stopListening()
    stopWatching()
  }
}

async function listen(server: AgentServer): Promise<void> {
  const { url } = await server.listen()
  const key = server.sessionKeyPath === undefined ? '' : ` (session key in ${server.sessionKeyPath})`
  process.stdout.write(`Agent Server listening on ${url}${key}\n`)
  const address = await server.consoleAddress(url)
  if (address !== undefined) process.stdout.write(`Console: ${address}\n`)
}

function logTo({ logLevel: level }: Config, write: (line: string) => void, mask: (line: string) => string): Log {
  return createLog({ write, level, clock: Date.now, mask })
}

function writeError(line: string): void {
  process.stderr.write(withModulePlaces(line))
}
