/**
 * The pattern analyzer: finds the risk of an action by regular expressions.
 *
 * Patterns for commands are matched against the texts of the call, not against thoughts. Repetitions in a pattern are
 * bounded, to limit the time of a match.
 */
import type { SecurityRisk } from '../../../schema/generated/values.ts'
import type { Corpus } from './corpus.ts'
import { forcedDeletes } from './shell-words.ts'

const executedHigh: readonly RegExp[] = [
  /\bsudo\s{1,10}rm\b/i,
  /\bmkfs\b/i,
  /\bdd\b[^\n]{0,100}\bof=\/dev\/(?!null\b|stdout\b|stderr\b)/i,
  /\b(?:eval|exec)\s{0,10}\(/i,
  /\bos\.system\s{0,10}\(/i,
  /\bsubprocess\.(?:call|run|Popen|check_output|check_call)\s{0,10}\(/i,
  /\b(?:curl|wget)\b[^|\n]{0,200}\|\s{0,10}(?:sudo\s{1,10})?(?:ba|z|da)?sh\b/i,
]
const executedMedium: readonly RegExp[] = [/\b(?:curl|wget)\b[^\n]{0,100}https?:\/\//i]
const saidHigh: readonly RegExp[] = [
  new RegExp(
    '\\b(?:ignore|disregard|forget|override|bypass)\\s{1,10}(?:all\\s{1,10})?(?:previous|prior|above)\\s{1,10}' +
      '(?:instruction|prompt|rule|directive)s?\\b',
    'i',
  ),
]
const saidMedium: readonly RegExp[] = [
  /\byou\s{1,10}are\s{1,10}now\s{1,10}(?:in\s{1,10})?(?:\w{1,30}\s{1,10})?mode\b/i,
  /\bpretend\s{1,10}(?:you\s{1,10}are|to\s{1,10}be)\s{1,10}(?:a\s{1,10})?different\b/i,
]

export function patternRisk({ executed, said }: Corpus): SecurityRisk {
  const all = [...executed, ...said]
  if (found(executedHigh, executed) || found(saidHigh, all)) return 'HIGH'
  if (executed.some((text) => forcedDeletes(text).length > 0)) return 'HIGH'
  return found(executedMedium, executed) || found(saidMedium, all) ? 'MEDIUM' : 'LOW'
}

function found(patterns: readonly RegExp[], texts: readonly string[]): boolean {
  return patterns.some((pattern) => texts.some((text) => pattern.test(text)))
}
