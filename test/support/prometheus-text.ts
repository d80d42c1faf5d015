/**
 * A strict reader of the text format of Prometheus, version 0.0.4, written from its description and without a line of
 * src/parts/metrics: a second opinion.
 *
 * It refuses text that Prometheus would accept by tolerance: a family without HELP or TYPE, or with them after its
 * samples or twice; families that are not in one piece; a sample twice; counters that do not end in `_total`; values
 * below zero where there can be none; histograms whose buckets fall, lack `+Inf`, or do not fit their count.
 */
export interface ReadSample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface ReadFamily {
  readonly name: string
  readonly type: string
  readonly help: string
  readonly samples: ReadSample[]
}

export type Families = ReadonlyMap<string, ReadFamily>

export function readMetrics(text: string): Families {
  if (!text.endsWith('\n')) throw new Error('The last line has no end')
  const families = new Map<string, ReadFamily>()
  let help: { readonly name: string, readonly text: string } | undefined
  let current: ReadFamily | undefined
  for (const line of text.slice(0, -1).split('\n')) {
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/.exec(line) ?? []
    if (keyword === 'HELP') {
      if (families.has(name)) throw new Error(`A second HELP: ${line}`)
      help = { name, text: unescaped(rest, '') }
      current = undefined
    } else if (keyword === 'TYPE') {
      if (help?.name !== name || families.has(name)) throw new Error(`A TYPE without its HELP: ${line}`)
      if (!['counter', 'gauge', 'histogram', 'summary'].includes(rest)) throw new Error(`Unknown type: ${line}`)
      current = { name, type: rest, help: help.text, samples: [] }
      families.set(name, current)
    } else {
      if (current === undefined) throw new Error(`A sample outside of a family: ${line}`)
      current.samples.push(readSample(line, current))
    }
  }
  for (const family of families.values()) check(family)
  return families
}

/** Returns the value of the only sample with this name and these labels; undefined when there is none. */
export function valueOf(families: Families, name: string, labels: Record<string, string> = {}): number | undefined {
  const all = [...families.values()].flatMap(({ samples }) => samples)
  return all.find((sample) => sample.name === name && keyOf(sample.labels) === keyOf(labels))?.value
}

function readSample(line: string, { name, type }: ReadFamily): ReadSample {
  const match = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? ([^ ]+)$/.exec(line)
  if (match === null) throw new Error(`No sample: ${line}`)
  const [, sampleName = '', labelText, valueText = ''] = match
  const suffixes = { histogram: ['_bucket', '_sum', '_count'], summary: ['_sum', '_count'] }[type] ?? ['']
  if (!suffixes.some((suffix) => sampleName === name + suffix)) throw new Error(`Not of the family ${name}: ${line}`)
  return { name: sampleName, labels: readLabels(labelText ?? '', line), value: readNumber(valueText, line) }
}

function readLabels(text: string, line: string): Record<string, string> {
  const labels: Record<string, string> = {}
  let rest = text
  while (rest !== '') {
    const match = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\["\\n])*)"(?:,(?=.)|$)/.exec(rest)
    if (match === null) throw new Error(`No label: ${line}`)
    const [all, name = '', value = ''] = match
    if (name in labels) throw new Error(`A label twice: ${line}`)
    labels[name] = unescaped(value, '"')
    rest = rest.slice(all.length)
  }
  return labels
}

function unescaped(text: string, more: string): string {
  return text.replace(/\\(.)/g, (_, letter: string) => {
    if (letter === 'n') return '\n'
    if (letter === '\\' || letter === more) return letter
    throw new Error(`Unknown escape: ${text}`)
  })
}

function readNumber(text: string, line: string): number {
  if (text === '+Inf') return Infinity
  if (!/^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/.test(text)) throw new Error(`No number: ${line}`)
  return Number(text)
}

function check(family: ReadFamily): void {
  const { name, type, samples } = family
  if ((type === 'counter') !== name.endsWith('_total')) throw new Error(`The name does not fit a ${type}: ${name}`)
  const keys = samples.map((sample) => `${sample.name} ${keyOf(sample.labels)}`)
  if (new Set(keys).size !== keys.length) throw new Error(`A sample twice in ${name}`)
  if (samples.some(({ value }) => value < 0)) throw new Error(`A value below zero in ${name}`)
  if (type === 'histogram') checkHistogram(family)
}

function checkHistogram({ name, samples }: ReadFamily): void {
  const series = new Map<string, ReadSample[]>()
  for (const sample of samples) {
    const { le: _, ...labels } = sample.labels
    series.set(keyOf(labels), [...(series.get(keyOf(labels)) ?? []), sample])
  }
  for (const [labels, all] of series) {
    const buckets = all.filter((sample) => sample.name === `${name}_bucket`)
    const bounds = buckets.map(({ labels: { le = '' } }) => readNumber(le, name))
    const values = buckets.map(({ value }) => value)
    const isRising = (numbers: number[], isStrict: boolean): boolean => numbers.every((number, index) => {
      const before = numbers[index - 1] ?? -1
      return isStrict ? number > before : number >= before
    })
    const count = all.find((sample) => sample.name === `${name}_count`)?.value
    const isSound = isRising(bounds, true) && isRising(values, false) && bounds.at(-1) === Infinity
    if (!isSound || values.at(-1) !== count || !all.some((sample) => sample.name === `${name}_sum`)) {
      throw new Error(`Not a histogram: ${name} ${labels}`)
    }
  }
}

function keyOf(labels: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)))
}
