/** Starts the part `keys`. */
import { ok, success } from '../../api/call.ts'
import { AppError } from '../../base/errors.ts'
import { parameterOf } from '../../http/router.ts'
import type { Lent, PartHandler, Started } from '../../part.ts'
import { OpenKeys, type KeyChange } from './named-keys.ts'
import type { keys } from './part.ts'
import { shownHolder, shownKey } from './shown.ts'

export async function start(core: Lent<typeof keys>): Promise<Started<typeof keys>> {
  const { dataDir, clock, log, masker, namedKeys, trail } = core
  const open = await OpenKeys.open({
    dataDir, clock, log,
    hide: (text) => void masker.register([text]),
    keepLimits: async () => void (await core.use('retention')),
    onChange(change, name) {
      log.info(texts[change], { name })
      trail.writer?.note(change, name)
    },
  })
  namedKeys.source = open
  const handlers: Record<keyof typeof keys.routes, PartHandler> = {
    'GET /api/keys': () => ok({ items: open.list().map((key) => shownKey(key, clock())) }),
    'GET /api/keys/current': ({ principal }) => ok(shownHolder(principal)),
    'DELETE /api/keys/{key_name}': async (call) => {
      const name = parameterOf(call.parameters, 'key_name')
      if (!await open.revoke(name)) throw new AppError('not_found', 'There is no such key')
      return success
    },
  }
  return { handlers, close: () => open.close() }
}

const texts: Readonly<Record<KeyChange, string>> = {
  'key added': 'A named key was added',
  'key revoked': 'A named key was revoked',
  'key unusable': 'A named key has become unusable',
  'key usable': 'A named key is usable again',
}
