/**
 * Signs users in to MCP servers (contract/others.md, section 6, `/api/mcp/oauth`).
 *
 * A sign-in finds the authorization server, waits for the answer from the user's browser, stores the login, and tries
 * the server. An answer must have the OAuth `state` of a waiting sign-in, and a sign-in accepts one answer. The login
 * in a result is not sealed: the caller seals it.
 */
import { AppError, messageOf } from '../../base/errors.ts'
import { createMasker } from '../../base/masking.ts'
import type { Clock, RandomBytes } from '../../base/stamp.ts'
import { deferred, untilAborted, type Deferred } from '../../base/wait.ts'
import { secretsToMask } from '../../settings/secret-fields.ts'
import { objectOf, textOf } from '../../base/fields.ts'
import { planServer, type RemotePlan } from './server-plan.ts'
import type { McpTrials, Trial, TrialResult } from './trials.ts'
import { codeIn, createAuthorization, hasState, type Authorization } from './oauth/authorization.ts'
import { findClient, type ClientWishes, type OAuthClient } from './oauth/client-registration.ts'
import { findSignIn, type SignInPlace } from './oauth/discovery.ts'
import { reachOf } from './oauth/documents.ts'
import { loginFrom } from './oauth/login.ts'
import type { Logins } from './oauth/logins.ts'
import { exchangeCode } from './oauth/token-endpoint.ts'

export interface SignInStatus {
  readonly status: 'pending' | 'authorizing' | 'succeeded' | 'failed'
  readonly authorizationUrl: string | undefined
  /** Whether the sign-in waits for the answer from the user's browser. */
  readonly isWaiting: boolean
  /** The result; undefined until the sign-in has ended. */
  readonly result: TrialResult | undefined
}

export interface SignInsOptions {
  readonly logins: Logins
  readonly trials: McpTrials
  /** The secrets that `${NAME}` in the settings may stand for, by name. */
  readonly secrets: () => Promise<ReadonlyMap<string, string>>
  /** The address to which the authorization server redirects browsers. @throws AppError when it is not known yet */
  readonly redirectUri: () => string
  readonly mask: (text: string) => string
  readonly createId: () => string
  readonly random: RandomBytes
  readonly clock: Clock
  readonly lifeMs?: number | undefined
}

interface Job {
  readonly trial: Trial
  readonly stop: AbortController
  readonly timer: NodeJS.Timeout
  readonly asked: Deferred<void>
  readonly answer: Deferred<URLSearchParams>
  status: SignInStatus['status']
  redirectUri: string | undefined
  authorization: Authorization | undefined
  result: TrialResult | undefined
  work: Promise<void>
}

const usualLifeMs = 15 * 60_000
const jobLimit = 32

export class SignIns {
  readonly #options: SignInsOptions
  readonly #jobs = new Map<string, Job>()
  #isClosed = false

  constructor(options: SignInsOptions) {
    this.#options = options
  }

  /**
   * Starts a sign-in. Resolves with its id when the address for the user's browser is known or the sign-in has failed.
   * @throws AppError `unavailable`
   */
  async start(trial: Trial): Promise<string> {
    if (this.#isClosed) throw new AppError('unavailable', 'The server is stopping')
    this.#makeRoom()
    const { createId, lifeMs = usualLifeMs } = this.#options
    const id = createId()
    const timer = setTimeout(() => this.#forget(id), lifeMs)
    const job: Job = {
      trial, timer, stop: new AbortController(), asked: deferred(), answer: deferred(),
      status: 'pending', redirectUri: undefined, authorization: undefined, result: undefined, work: Promise.resolve(),
    }
    this.#jobs.set(id, job)
    job.work = this.#run(job)
    await job.asked.promise
    return id
  }

  /** Returns the state of a sign-in. @throws AppError `not_found` */
  status(id: string): SignInStatus {
    const { status, authorization, result } = this.#find(id)
    return { status, authorizationUrl: authorization?.url, isWaiting: authorization !== undefined, result }
  }

  /**
   * Takes the authorization response from the address to which the authorization server sent the user's browser.
   * @throws AppError `not_found`, `conflict` when the sign-in does not wait, `bad_request` for another address
   */
  takeAddress(id: string, address: string): void {
    const job = this.#find(id)
    const { authorization, redirectUri = '' } = job
    if (authorization === undefined) {
      throw new AppError('conflict', 'The sign-in does not wait for an answer: it is being prepared, or has ended')
    }
    const url = URL.canParse(address) ? new URL(address) : undefined
    const isOurs =
      url !== undefined &&
      `${url.origin}${url.pathname}` === redirectUri &&
      hasState(url.searchParams, authorization.state)
    if (!isOurs) {
      throw new AppError(
        'bad_request', 'Cannot use the address: expected the address to which the browser was sent after this sign-in',
      )
    }
    take(job, url.searchParams)
  }

  /** Gives an authorization response to the waiting sign-in with the same `state`. Returns false if there is none. */
  takeAnswer(answer: URLSearchParams): boolean {
    const waiting = [...this.#jobs.values()].filter(
      ({ authorization }) => authorization !== undefined && hasState(answer, authorization.state),
    )
    for (const job of waiting) take(job, answer)
    return waiting.length > 0
  }

  /** Ends all sign-ins and refuses new sign-ins. */
  async close(): Promise<void> {
    this.#isClosed = true
    const work = [...this.#jobs.values()].map((job) => job.work)
    for (const id of this.#jobs.keys()) this.#forget(id)
    await Promise.all(work)
  }

  /** Carries out a sign-in, and keeps its result in the job. Never rejects. */
  async #run(job: Job): Promise<void> {
    const masker = createMasker()
    masker.register(secretsToMask('McpServer', job.trial.server))
    try {
      job.result = await this.#signIn(job)
    } catch (error) {
      const kind = error instanceof AppError ? error.code === 'upstream_timeout' ? 'timeout' : 'connection' : 'unknown'
      job.result = { ok: false, error: this.#options.mask(masker.mask(messageOf(error))), error_kind: kind }
    }
    job.status = job.result.ok ? 'succeeded' : 'failed'
    job.authorization = undefined
    job.asked.resolve()
  }

  async #signIn(job: Job): Promise<TrialResult> {
    const { secrets, redirectUri, clock, logins, trials, random } = this.#options
    const { trial, stop: { signal } } = job
    const plan = planServer(trial.server, await secrets())
    if (plan.type === 'stdio' || plan.oauth === undefined) {
      throw new AppError('bad_request', 'Cannot sign in to the server: expected auth with the strategy oauth2')
    }
    const address = redirectUri()
    const last = await logins.find({ name: trial.name, url: plan.url }, plan.oauth['state'])
    const { place, client, authorization } = await inTime(trial, signal, (limited) =>
      prepare(plan, { redirectUri: address, known: last?.source }, random, limited),
    )
    job.redirectUri = address
    job.authorization = authorization
    job.status = 'authorizing'
    job.asked.resolve()
    const code = codeIn(await untilAborted(job.answer.promise, signal), place)
    const { tokenEndpoint: endpoint, issuer } = place.authority
    const grant = { code, verifier: authorization.verifier, redirectUri: address }
    const target = { endpoint, client, resource: place.resource }
    const tokens = await inTime(trial, signal, (limited) => exchangeCode(target, grant, reachOf(plan.url, limited)))
    const source = { issuer, endpoint: endpoint.href, resource: place.resource, client }
    await logins.put({ name: trial.name, url: plan.url }, loginFrom(tokens, source, clock()))
    return trials.run(trial, signal)
  }

  #find(id: string): Job {
    const job = this.#jobs.get(id)
    if (job === undefined) throw new AppError('not_found', 'There is no such sign-in')
    return job
  }

  #forget(id: string): void {
    const job = this.#jobs.get(id)
    this.#jobs.delete(id)
    clearTimeout(job?.timer)
    job?.stop.abort(new AppError('upstream_timeout', 'The sign-in took too long, or the server is stopping'))
  }

  /** At the limit, drops the oldest finished sign-in. @throws AppError `unavailable` when none has finished */
  #makeRoom(): void {
    if (this.#jobs.size < jobLimit) return
    const over = [...this.#jobs].find(([, { result }]) => result !== undefined)
    if (over === undefined) {
      throw new AppError('unavailable', `Cannot sign in: ${jobLimit} other sign-ins are under way`)
    }
    this.#forget(over[0])
  }
}

/** Passes the answer to its sign-in. The OAuth `state` is valid once, so no further answer is accepted. */
function take(job: Job, answer: URLSearchParams): void {
  job.authorization = undefined
  job.answer.resolve(answer)
}

interface Prepared {
  readonly place: SignInPlace
  readonly client: OAuthClient
  readonly authorization: Authorization
}

async function prepare(
  plan: RemotePlan, own: Pick<ClientWishes, 'redirectUri' | 'known'>, random: RandomBytes, signal: AbortSignal,
): Promise<Prepared> {
  const reach = reachOf(plan.url, signal)
  const settings = objectOf(plan.oauth?.['authentication'])
  const place = await findSignIn(plan.url, reach)
  const scope = scopeOf(settings['scopes']) ?? place.scope
  const client = await findClient({ ...own, settings, place, scope }, reach)
  return { place, client, authorization: createAuthorization({ ...own, place, client, scope, random }) }
}

function scopeOf(scopes: unknown): string | undefined {
  return textOf(Array.isArray(scopes) ? scopes.join(' ') : scopes)
}

/** Calls `work` with a signal that aborts with `signal`, or `timeoutMs` after the beginning of this call. */
async function inTime<T>(
  { timeoutMs }: Trial, signal: AbortSignal, work: (limited: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController()
  const reason = new AppError('upstream_timeout', `The sign-in took more than ${timeoutMs} ms`)
  const timer = setTimeout(() => late.abort(reason), timeoutMs)
  try {
    return await work(AbortSignal.any([signal, late.signal]))
  } finally {
    clearTimeout(timer)
  }
}
