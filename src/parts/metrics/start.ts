/** Starts the part `metrics`. Without the option `--metrics`, `GET /metrics` gets the status 404. */
import { AppError } from '../../base/errors.ts'
import { within } from '../../base/wait.ts'
import type { Core } from '../../capabilities.ts'
import type { HttpResponse } from '../../http/reply.ts'
import { valuesOf } from '../../option.ts'
import type { Lent, PartHandler, Started } from '../../part.ts'
import { AccessLog } from './access-log.ts'
import { counter, formatFamilies, mediaType, type Family } from './exposition.ts'
import { loadFamilies } from './load-figures.ts'
import { LoopDelay } from './loop-delay.ts'
import { options, type metrics } from './part.ts'
import { diskFamilies, processFamilies } from './process-figures.ts'
import { TrafficFigures } from './traffic-figures.ts'

type Needs = Lent<typeof metrics>

export async function start(core: Needs): Promise<Started<typeof metrics>> {
  const { metrics: isMeasured, accessLog } = valuesOf(options, core.config)
  const closeAccessLog = accessLog === undefined ? undefined : await writeAccessLog(core, accessLog)
  const scrape = isMeasured ? measure(core) : undefined
  const handlers: Record<keyof typeof metrics.routes, PartHandler> = {
    'GET /metrics': () => {
      if (scrape === undefined) throw new AppError('not_found', 'The server was started without --metrics')
      return scrape.respond()
    },
  }
  return {
    handlers,
    async close() {
      scrape?.close()
      await closeAccessLog?.()
    },
  }
}

/** Writes the access log from now on. Returns the function that ends it. @throws AppError `invalid_option` */
async function writeAccessLog({ clock, logFiles, masker, traffic }: Needs, path: string): Promise<() => Promise<void>> {
  const output = await logFiles.open('access', path)
  const stopObserving = traffic.observe(new AccessLog({ output, clock, mask: (line) => masker.mask(line) }))
  return async () => {
    // Responses and WebSockets may still end while the server closes. Wait for their lines in the log.
    await within(traffic.settled(), settleLimitMs)
    stopObserving()
    await output.close()
  }
}

/** The longest time, in milliseconds, that the end of the server waits for the last lines of the access log. */
const settleLimitMs = 2000

interface Scrape {
  respond(): Promise<HttpResponse>
  close(): void
}

function measure({ clock, dataDir, load, logFiles, traffic }: Needs): Scrape {
  const startedAt = clock()
  const figures = new TrafficFigures()
  const delay = new LoopDelay()
  const stopObserving = traffic.observe(figures)
  return {
    async respond() {
      const families = [
        ...figures.families(), ...loadFamilies(load(), traffic.connections), ...delay.families(),
        droppedLines(logFiles), ...processFamilies(startedAt), ...(await diskFamilies(dataDir)),
      ]
      return { status: 200, type: mediaType, body: Buffer.from(formatFamilies(families)) }
    },
    close() {
      stopObserving()
      delay.close()
    },
  }
}

function droppedLines(logFiles: Core['logFiles']): Family {
  const samples = (['server', 'access'] as const).map((log) => ({ labels: { log }, value: logFiles.dropped(log) }))
  return counter('agent_server_log_lines_dropped_total', 'Lines of log files that the disk did not take.', samples)
}
