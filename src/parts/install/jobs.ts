/**
 * Installs agents on request of clients, one after another, and reports the state of each installation. The states
 * are lost when the server ends.
 */
import { randomUUID } from 'node:crypto'
import { ok, type Call } from '../../api/call.ts'
import { AppError, messageOf } from '../../base/errors.ts'
import type { HttpResponse } from '../../http/reply.ts'
import { parameterOf } from '../../http/router.ts'
import type { Lent } from '../../part.ts'
import { agentsFolderIn } from './folder.ts'
import { installAgent } from './install.ts'
import type { install } from './part.ts'

type JobNeeds = Lent<typeof install>

interface Job {
  readonly name: string
  readonly begun: number
  state: 'running' | 'done' | 'failed'
  /** The current step; at the end the installed version, or the reason of the failure. */
  text: string
}

export class InstallJobs {
  readonly #needs: JobNeeds
  /** The newest job of each agent, by the agent's name. */
  readonly #jobs = new Map<string, Job>()
  readonly #closed = new AbortController()
  /** Resolves when all installations that were requested so far have ended. */
  #ended: Promise<void> = Promise.resolve()

  constructor(needs: JobNeeds) {
    this.#needs = needs
  }

  /** Queues the installation of an agent, unless it is queued or running. @throws AppError `not_found` */
  begin(call: Call): HttpResponse {
    const name = parameterOf(call.parameters, 'name')
    const provider = this.#needs.providers.find((one) => one.name === name)
    if (provider === undefined) throw new AppError('not_found', `There is no agent "${name}"`)
    const known = this.#jobs.get(name)
    if (known?.state === 'running') return ok(this.#view(known))
    const job: Job = { name, begun: this.#needs.clock(), state: 'running', text: 'waits for another installation' }
    this.#jobs.set(name, job)
    this.#ended = this.#ended.then(() => this.#run(job, provider))
    return ok(this.#view(job))
  }

  list(): HttpResponse {
    return ok({ items: [...this.#jobs.values()].map((job) => this.#view(job)) })
  }

  /** Aborts the running and the queued installations, and waits until they have ended. Idempotent. */
  async close(): Promise<void> {
    this.#closed.abort(new AppError('unavailable', 'The server is shutting down'))
    await this.#ended
  }

  async #run(job: Job, provider: JobNeeds['providers'][number]): Promise<void> {
    const { dataDir, environment, clock, log } = this.#needs
    try {
      const { version } = await installAgent({
        agentsDir: agentsFolderIn(dataDir), provider, version: provider.version, environment, clock,
        signal: this.#closed.signal, createId: randomUUID, report: (step) => (job.text = step),
      })
      job.text = `version ${version}`
      job.state = 'done'
      log.info('An agent was installed', { agent: job.name, version })
    } catch (thrown) {
      job.text = messageOf(thrown)
      job.state = 'failed'
    }
  }

  #view({ name, begun, state, text }: Job): object {
    return { name, state, text, seconds: Math.round((this.#needs.clock() - begun) / 1000) }
  }
}
