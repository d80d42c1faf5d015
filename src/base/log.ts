/**
 * The server's own log: one JSON object per line.
 *
 * `LogOptions.mask` masks every line. Pass an Error as a field, not its message, so that the line can show its stack.
 */
import { formatMicros, type Clock } from './stamp.ts'
import { messageOf } from './errors.ts'

/** The levels, the least important first. */
export const logLevels = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof logLevels)[number]

/**
 * The fields of a line. An Error becomes its message. A line of the level `warn` or `error`, and each line of a log
 * with the level `debug`, also has the Error's stack in the field `<name>_stack`.
 */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined | Error>>

export interface Log {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

export interface LogOptions {
  readonly write: (line: string) => void
  readonly level: LogLevel
  readonly clock: Clock
  /** Replaces secrets in a finished line. */
  readonly mask: (line: string) => string
}

/** The most causes of an error that are logged, and the most characters of the stacks of the error and its causes. */
const causeLimit = 5
const stackLimitChars = 16_384

export function createLog(options: LogOptions): Log {
  const { write, level, clock, mask } = options
  const least = logLevels.indexOf(level)
  const at = (lineLevel: LogLevel) => (message: string, fields: LogFields = {}): void => {
    if (logLevels.indexOf(lineLevel) < least) return
    const line: Record<string, unknown> = { time: formatMicros(Math.floor(clock() * 1000)), level: lineLevel, message }
    for (const [key, value] of Object.entries(fields)) {
      line[key] = value instanceof Error ? messageOf(value) : value
      const hasStack = value instanceof Error && (lineLevel === 'warn' || lineLevel === 'error' || level === 'debug')
      const stackKey = `${key}_stack`
      if (hasStack) line[stackKey] = stackOf(value)
    }
    write(`${mask(JSON.stringify(line))}\n`)
  }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

/** Returns the stacks of an error and of up to `causeLimit` causes, cut to `stackLimitChars`. */
function stackOf(error: Error): string {
  const stacks: string[] = []
  for (let cause: unknown = error; cause instanceof Error && stacks.length <= causeLimit; cause = cause.cause) {
    stacks.push(`${stacks.length === 0 ? '' : 'Caused by: '}${cause.stack ?? `${cause.name}: ${cause.message}`}`)
  }
  return stacks.join('\n').slice(0, stackLimitChars)
}

/** Returns a log that adds these fields to every line. A line's own field of the same name has precedence. */
export function withFields(log: Log, fields: LogFields): Log {
  return {
    debug: (message, more) => log.debug(message, { ...fields, ...more }),
    info: (message, more) => log.info(message, { ...fields, ...more }),
    warn: (message, more) => log.warn(message, { ...fields, ...more }),
    error: (message, more) => log.error(message, { ...fields, ...more }),
  }
}

/** A log that writes nothing: the default for a program that embeds the server. */
export const silentLog: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore }

function ignore(): void {}
