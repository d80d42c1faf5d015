/**
 * The policy-rail analyzer. The risk is HIGH when one text of the call fetches and runs code, writes to a raw disk or
 * deletes a critical path by force. Otherwise the risk is LOW.
 */
import type { SecurityRisk } from '../../../schema/generated/values.ts'
import type { Corpus } from './corpus.ts'
import { forcedDeletes } from './shell-words.ts'

const fetches = /\b(?:curl|wget)\b/i
const interprets = /\|\s{0,10}(?:sudo\s{1,10})?(?:(?:ba|z|da)?sh|python[23]?|perl|ruby|node)\b/i
const rawDisk = /\bdd\b[^\n]{0,100}\bof=\/dev\/(?!null\b|stdout\b|stderr\b)|\bmkfs\b/i
/** Matches a critical path: the root, the home folder, a system folder, or a path below a system folder. */
const critical = /^(?:\/+\*?|~\/?\*?|\$\{?HOME\}?\/?\*?|\/+(?:etc|usr|var|home|boot|root|bin|sbin|lib|opt)(?:\/.*)?)$/i

export function railRisk({ executed }: Corpus): SecurityRisk {
  const isStopped = executed.some((text) => {
    return (fetches.test(text) && interprets.test(text)) || rawDisk.test(text) || deletesCritical(text)
  })
  return isStopped ? 'HIGH' : 'LOW'
}

function deletesCritical(text: string): boolean {
  return forcedDeletes(text).some((args) => args.some((arg) => critical.test(arg)))
}
