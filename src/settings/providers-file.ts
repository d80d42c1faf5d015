/**
 * Reads `--providers FILE`, which adds or changes entries of the provider table (facts about the agents' programs).
 *
 * The file is a JSON object of entries by provider name, with the members of `Provider`. A new provider needs `command`
 * and `prefix`. Unknown members are refused.
 */
import { AppError } from '../base/errors.ts'
import { isObject } from '../base/json.ts'
import { readJsonFile } from '../base/json-file.ts'
import { splitCommand } from './command.ts'
import { customServer, withCommands } from './providers.ts'
import { isProvider, providerNameShape, unmetExpectationsOf } from './providers-shape.ts'
import { builtInProviders } from './providers-table.ts'
import { blankProvider, type Provider } from './provider.ts'

export interface ProviderSources {
  /** The path given with `--providers`; undefined without the option. */
  readonly file: string | undefined
  /** The commands of `--acp-command`, by provider name. Each is a command line or its words. */
  readonly commands: Readonly<Record<string, string | readonly string[]>>
}

/**
 * Returns the built-in provider table, changed by the file and then by the commands.
 * @throws AppError `bad_request`, and the errors of `readJsonFile` and `splitCommand`
 */
export async function loadProviders({ file, commands }: ProviderSources): Promise<readonly Provider[]> {
  const words = Object.entries(commands).map(([name, command]) => [name, wordsOf(command)] as const)
  return withCommands(file === undefined ? builtInProviders : await readProvidersFile(file), Object.fromEntries(words))
}

async function readProvidersFile(path: string): Promise<readonly Provider[]> {
  const content = await readJsonFile(path)
  if (content === undefined) {
    throw new AppError('bad_request', `Cannot read the providers file "${path}": it is not there`)
  }
  return withProvidersFile(builtInProviders, content)
}

function wordsOf(command: string | readonly string[]): readonly string[] {
  return typeof command === 'string' ? splitCommand(command) : command
}

/**
 * Returns the provider table, changed and extended by the entries of a providers file.
 * @throws AppError `bad_request` for a file that is no object or has a wrong entry
 */
export function withProvidersFile(providers: readonly Provider[], file: unknown): Provider[] {
  if (!isObject(file)) throw refusal('the providers file', 'an object of entries by name')
  const result = [...providers]
  for (const [name, entry] of Object.entries(file)) {
    const index = result.findIndex((provider) => provider.name === name)
    const provider = readEntry(name, entry, result[index])
    if (index === -1) result.push(provider)
    else result[index] = provider
  }
  return result
}

function readEntry(name: string, entry: unknown, existing: Provider | undefined): Provider {
  const what = `the entry ${JSON.stringify(name)} of the providers file`
  if (!providerNameShape.test(name)) throw refusal(what, 'a name of small letters, digits, ".", "_", "-"')
  if (name === customServer) throw refusal(what, 'another name')
  if (!isObject(entry)) throw refusal(what, 'an object')
  const provider: unknown = { ...(existing ?? blankProvider(name)), ...entry, name }
  if (!isProvider(provider)) throw refusal(what, unmetExpectationsOf(provider).join('; '))
  return provider
}

function refusal(what: string, expected: string): AppError {
  return new AppError('bad_request', `Cannot read ${what}: expected ${expected}`)
}
