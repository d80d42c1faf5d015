/** Starts the part `metrics`. Without the option `--metrics` nothing is measured, and `/metrics` has the status 404. */
import { AppError } from '../../base/errors.ts'
import type { Core } from '../../capabilities.ts'
import type { HttpResponse } from '../../http/reply.ts'
import { valuesOf } from '../../option.ts'
import type { PartHandler, StartedPart } from '../../part.ts'
import { formatFamilies, mediaType } from './exposition.ts'
import { loadFamilies } from './load-figures.ts'
import { LoopDelay } from './loop-delay.ts'
import { options, type metrics } from './part.ts'
import { diskFamilies, processFamilies } from './process-figures.ts'
import { TrafficFigures } from './traffic-figures.ts'

type Lent = Pick<Core, 'config' | 'clock' | 'dataDir' | 'load' | 'traffic'>

export function start(core: Lent): StartedPart {
  const scrape = valuesOf(options, core.config).metrics ? measure(core) : undefined
  const handlers: Record<keyof typeof metrics.routes, PartHandler> = {
    'GET /metrics': () => {
      if (scrape === undefined) throw new AppError('not_found', 'The server was started without --metrics')
      return scrape.respond()
    },
  }
  return { handlers, close: async () => scrape?.close() }
}

interface Scrape {
  respond(): Promise<HttpResponse>
  close(): void
}

function measure({ clock, dataDir, load, traffic }: Lent): Scrape {
  const startedAt = clock()
  const figures = new TrafficFigures()
  const delay = new LoopDelay()
  const stopObserving = traffic.observe(figures)
  return {
    async respond() {
      const families = [
        ...figures.families(), ...loadFamilies(load(), traffic.connections), ...delay.families(),
        ...processFamilies(startedAt), ...(await diskFamilies(dataDir)),
      ]
      return { status: 200, type: mediaType, body: Buffer.from(formatFamilies(families)) }
    },
    close() {
      stopObserving()
      delay.close()
    },
  }
}
