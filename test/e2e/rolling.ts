/** A rolling restart under load: the short test and the long one are this one function. */
import * as assert from 'uvu/assert'
import { fakeAgent, type StartProgram } from '../support/server.ts'
import { SteadyClients } from './steady-clients.ts'

export interface RollingOptions {
  readonly clients: number
  /** For each client. */
  readonly messages: number
  readonly restarts: number
}

export async function restartUnderLoad(
  start: StartProgram, { clients, messages, restarts }: RollingOptions,
): Promise<void> {
  const args = ['--drain-seconds', '5', '--agent-limit', String(clients), '--log-level', 'warn']
  let program = await start(args)
  const talking = new SteadyClients({
    clients, messages, key: program.key, url: () => program.url, agent: fakeAgent('echo'),
  })
  try {
    for (let restart = 1; restart <= restarts; restart++) {
      await talking.reach(Math.floor((clients * messages * restart) / (restarts + 1)))
      assert.is(await program.stop('SIGTERM'), 0, program.stderr())
      program = await start(args)
    }
    await talking.finish()
  } finally {
    await talking.close()
  }
  const { accepted, repeated, connections } = talking
  assert.is(accepted, clients * messages)
  assert.ok(repeated > 0 && connections > clients, 'no client noticed a restart')
  process.stdout.write(
    `${restarts} restarts, ${clients} clients, ${accepted} messages accepted, ${repeated} requests repeated, ` +
      `${connections} connections: nothing missing, doubled or out of order\n`,
  )
}
