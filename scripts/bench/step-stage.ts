/**
 * The server and a model beside it, each a process of its own, for measuring steps of the built-in agent.
 *
 * A conversation is known by a name. The model holds its answer back at the step that was asked for, so that figures
 * are taken while the server waits. Between two figures lie whole steps.
 */
import { startChild, type Child } from './child.ts'

export interface StepStage {
  readonly server: Child
  /**
   * Starts a conversation of so many steps, whose history is condensed or not; the model holds its first answer back.
   */
  begin(name: string, steps: number, isCondensed?: boolean): Promise<void>
  /** Starts conversations of so many steps at once, whose model thinks for so long before it answers. */
  beginAll(names: readonly string[], steps: number, delayMs: number): Promise<void>
  /** Lets these conversations go on to the request for this step, and gives the size of each. */
  until(names: readonly string[], step: number): Promise<readonly number[]>
  /** Removes a conversation. */
  end(name: string): Promise<void>
  endAll(names: readonly string[]): Promise<void>
  /** The model's address for a conversation, or for a request that belongs to none. */
  urlOf(name: string): Promise<string>
}

/** @param model its provider says which wire format is spoken */
export async function withStage<T>(model: string, body: (stage: StepStage) => Promise<T>): Promise<T> {
  const server = startChild('step-server')
  const standIn = startChild('step-model')
  const ids = new Map<string, unknown>()
  const urlOf = async (name: string): Promise<string> => `http://127.0.0.1:${Number(await standIn.ask('port'))}/${name}`
  try {
    return await body({
      server,
      urlOf,
      async begin(name, steps, isCondensed = false) {
        await standIn.ask('script', { name, steps, delayMs: 0 })
        const condenserUrl = isCondensed ? await urlOf('nobody') : null
        ids.set(name, await server.ask('begin', { model, baseUrl: await urlOf(name), condenserUrl }))
      },
      async beginAll(names, steps, delayMs) {
        const begins: object[] = []
        for (const name of names) {
          await standIn.ask('script', { name, steps, delayMs })
          begins.push({ model, baseUrl: await urlOf(name), condenserUrl: null })
        }
        const begun = await server.ask('beginAll', begins)
        names.forEach((name, place) => ids.set(name, Array.isArray(begun) ? begun[place] : undefined))
      },
      async until(names, step) {
        const sizes = await standIn.ask('until', { names, step })
        return Array.isArray(sizes) ? sizes.map(Number) : []
      },
      async end(name) {
        await server.ask('remove', ids.get(name))
        await standIn.ask('forget', { name })
      },
      async endAll(names) {
        await server.ask('removeAll', names.map((name) => ids.get(name)))
        for (const name of names) await standIn.ask('forget', { name })
      },
    })
  } finally {
    await Promise.all([server.stop(), standIn.stop()])
  }
}
