/**
 * The server's own log: one JSON object per line, written to a sink that the caller owns.
 *
 * Every line goes through the masking function it was made with, so a secret that slipped into a field is replaced
 * before it leaves the process. Nothing here buffers, rotates or opens files: that is the operator's service manager.
 */
import { formatMicros, type Clock } from './stamp.ts'
import { messageOf } from './errors.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'
const rank: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 }

/** What a line may carry besides its message. An Error becomes its message; its stack only appears at level debug. */
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

export function createLog(options: LogOptions): Log {
  const { write, level, clock, mask } = options
  const at = (lineLevel: LogLevel) => (message: string, fields: LogFields = {}): void => {
    if (rank[lineLevel] < rank[level]) return
    const line: Record<string, unknown> = { time: formatMicros(Math.floor(clock() * 1000)), level: lineLevel, message }
    for (const [key, value] of Object.entries(fields)) {
      line[key] = value instanceof Error ? messageOf(value) : value
      if (value instanceof Error && level === 'debug') line[`${key}_stack`] = value.stack
    }
    write(`${mask(JSON.stringify(line))}\n`)
  }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

/** A log that says nothing: the default of the library entry. */
export const silentLog: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore }

function ignore(): void {}
