/**
 * Writes metrics in the text format of Prometheus, version 0.0.4.
 *
 * A metric family has a HELP and a TYPE line even without a sample. Names are not checked here.
 */

export const mediaType = 'text/plain; version=0.0.4; charset=utf-8'

/** The values of labels, by label name. */
export type Labels = Readonly<Record<string, string>>

export interface Sample {
  /** The end of the sample's name, after the name of its family: `_bucket`, `_sum` or `_count`. Default: nothing. */
  readonly suffix?: string
  readonly labels?: Labels
  readonly value: number
}

export interface Family {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary'
  readonly help: string
  readonly samples: readonly Sample[]
}

export function counter(name: string, help: string, samples: readonly Sample[]): Family {
  return { name, type: 'counter', help, samples }
}

export function gauge(name: string, help: string, samples: readonly Sample[]): Family {
  return { name, type: 'gauge', help, samples }
}

export function formatFamilies(families: readonly Family[]): string {
  return families.map(({ name, type, help, samples }) => {
    const head = `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`
    return head + samples.map((sample) => formatSample(name, sample)).join('')
  }).join('')
}

function formatSample(name: string, { suffix = '', labels = {}, value }: Sample): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`)
  const set = pairs.length === 0 ? '' : `{${pairs.join(',')}}`
  return `${name}${suffix}${set} ${formatNumber(value)}\n`
}

/** Returns a number in a form that Go's `ParseFloat` reads. */
export function formatNumber(value: number): string {
  if (value === Infinity) return '+Inf'
  return value === -Infinity ? '-Inf' : String(value)
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"')
}
