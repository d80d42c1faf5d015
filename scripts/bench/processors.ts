/** Reads how busy the processors of the machine are, for gates that run while other programs may run. */
import { cpus } from 'node:os'

/** How long the processors have been busy since the machine was started, all of them together, with anything. */
export function busyMs(): number {
  return cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + user + nice + sys + irq, 0)
}
