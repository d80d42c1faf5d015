/**
 * `agent-server doctor`: prints findings with advice, as lines or as JSON.
 *
 * It changes nothing in the data folder, so a server may be using the folder. The programs of agents are started one
 * after the other.
 */
import { join } from 'node:path'
import { AppError } from '../../base/errors.ts'
import { makeTemporaryFolder, removeTree } from '../../base/own-files.ts'
import { separateKeys } from '../../config.ts'
import type { Finding } from '../../finding.ts'
import type { CommandCall } from '../../part.ts'
import { loadProviders } from '../../settings/providers-file.ts'
import { listSecretNames } from '../../settings/secrets.ts'
import { examineAgent } from './agent.ts'
import { examineMachine } from './machine.ts'
import { formatFinding } from './format.ts'

/**
 * Runs the command. Returns 0 when no finding about the machine is a problem and every named agent responds, else 1.
 * @throws AppError `invalid_option` for a provider that is not in the table; the errors of `loadProviders`; the
 * signal's reason
 */
export async function run(call: CommandCall): Promise<number> {
  const { config, words: names, flags, exposedFiles, environment, temporaryDir, print, signal, parts } = call
  const asJson = flags['json'] === 'true'
  const providers = await loadProviders({ file: config.providersFile, commands: config.acpCommands })
  const unknown = names.find((name) => !providers.some((provider) => provider.name === name))
  if (unknown !== undefined) {
    throw new AppError(
      'invalid_option', `Could not use "${unknown}": expected one of ${providers.map(({ name }) => name).join(', ')}`,
    )
  }
  const findings: Finding[] = []
  const tell = (finding: Finding): void => {
    findings.push(finding)
    if (!asJson) print(`${formatFinding(finding)}\n`)
  }
  const { keyless, sealingKeyOptions } = separateKeys(config)
  const machine = { config: keyless, sealingKeyOptions, exposedFiles, environment, parts }
  for (const finding of await examineMachine(machine)) tell(finding)
  let isFit = findings.every(({ state }) => state !== 'problem')
  const workingDir = await makeTemporaryFolder(join(temporaryDir, 'agent-server-doctor-'))
  try {
    // An unreadable `secrets.json` counts as empty.
    const secretNames = await listSecretNames(join(config.dataDir, 'secrets.json')).catch(() => [])
    for (const provider of providers) {
      if (names.length > 0 && !names.includes(provider.name)) continue
      signal.throwIfAborted()
      const agent = await examineAgent({ provider, config, environment, secretNames, workingDir, signal })
      tell(agent.finding)
      if (names.length > 0 && !agent.answers) isFit = false
    }
  } finally {
    await removeTree(workingDir)
  }
  if (asJson) print(`${JSON.stringify(findings, undefined, 2)}\n`)
  return isFit ? 0 : 1
}
