/**
 * The analyzer by policy rail: three combinations that are dangerous together, in one text of the action.
 *
 * The rails: a download that goes into an interpreter, a write to a raw disk, and a deletion by force of a folder that
 * the system or the user lives on. Anything else has a low risk.
 */
import type { SecurityRisk } from '../../../schema/generated/values.ts'
import type { Corpus } from './corpus.ts'
import { forcedDeletes } from './shell-words.ts'

const fetches = /\b(?:curl|wget)\b/i
const interprets = /\|\s{0,10}(?:sudo\s{1,10})?(?:(?:ba|z|da)?sh|python[23]?|perl|ruby|node)\b/i
const rawDisk = /\bdd\b[^\n]{0,100}\bof=\/dev\/(?!null\b|stdout\b|stderr\b)|\bmkfs\b/i
/** The root, the home folder, and folders of the system with anything below. */
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
