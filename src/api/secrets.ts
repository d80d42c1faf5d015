/**
 * The routes for global secrets (contract/settings.md, section 6).
 *
 * The list has names without values. The route of one secret returns its value as plain text. Values are not logged.
 */
import type { HttpResponse } from '../http/reply.ts'
import { parameterOf } from '../http/router.ts'
import { SecretWrite } from '../schema/generated/secrets.ts'
import type { SecretStore } from '../settings/secrets.ts'
import { bodyOf, ok, type Call } from './call.ts'
import { tellMasking } from './secret-masking.ts'

export interface SecretParts {
  readonly secrets: SecretStore
  readonly reserve: { ensureHeld(): Promise<void> }
}

export async function listSecrets({ secrets }: SecretParts): Promise<HttpResponse> {
  return ok({ secrets: await secrets.list() })
}

export async function putSecret({ secrets, reserve }: SecretParts, call: Call): Promise<HttpResponse> {
  const secret = bodyOf(call, SecretWrite)
  call.exchange.subject = secret.name
  await reserve.ensureHeld()
  const stored = await secrets.put(secret)
  tellMasking(call, { [secret.name]: { kind: 'StaticSecret', value: secret.value } })
  return ok(stored)
}

export async function getSecret({ secrets }: SecretParts, call: Call): Promise<HttpResponse> {
  const value = await secrets.get(parameterOf(call.parameters, 'name'))
  return { status: 200, type: 'text/plain; charset=utf-8', body: Buffer.from(value) }
}

export async function deleteSecret({ secrets }: SecretParts, call: Call): Promise<HttpResponse> {
  await secrets.delete(parameterOf(call.parameters, 'name'))
  return ok({ deleted: true })
}
