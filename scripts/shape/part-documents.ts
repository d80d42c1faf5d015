/**
 * Holds the README of each part to one form, and the figures of its limits to the code.
 *
 * `src/parts/<name>/README.md` has the headings Options, Routes, Limits and What it can touch, in this order, and the
 * generated regions `options`, `routes` and `powers` below theirs. In any README of src, a table whose last column is
 * "In" has rows like `| Text of a skill file | 64 KiB | `skill-files.ts` `fileLimitBytes` |`: the file, relative to the
 * README, gives the named constant that value.
 */
import { posix } from 'node:path'
import type { Documents } from './citations.ts'
import type { Finding } from './finding.ts'

const form: readonly (readonly [heading: string, region: string | undefined])[] = [
  ['Options', 'options'], ['Routes', 'routes'], ['Limits', undefined], ['What it can touch', 'powers'],
]

/** `sources` maps the path of each TypeScript file to its text. */
export function checkPartDocuments(sources: ReadonlyMap<string, string>, documents: Documents): Finding[] {
  const parts = [...sources.keys()].filter((path) => /^src\/parts\/[^/]+\/part\.ts$/.test(path)).map((path) => {
    return posix.dirname(path)
  })
  const readmes = [...documents].filter(([path]) => path.startsWith('src/') && path.endsWith('/README.md'))
  return [
    ...parts.flatMap((folder) => checkForm(`${folder}/README.md`, documents.get(`${folder}/README.md`))),
    ...readmes.flatMap(([path, text]) => checkFigures(path, text, sources)),
  ]
}

function checkForm(path: string, text: string | undefined): Finding[] {
  if (text === undefined) return [finding(path, 0, 'is missing: each part has one')]
  const sections = text.split(/^## /m).slice(1).map((section) => ({
    heading: section.split('\n', 1)[0] ?? '', section,
  }))
  const known = sections.filter(({ heading }) => form.some(([name]) => name === heading))
  const wanted = form.map(([name]) => name)
  if (known.map(({ heading }) => heading).join() !== wanted.join()) {
    return [finding(path, 0, `needs the headings ${wanted.join(', ')}, in this order`)]
  }
  return form.flatMap(([name, region]) => {
    const section = known.find(({ heading }) => heading === name)?.section ?? ''
    if (region === undefined || section.includes(`<!-- generated: ${region} -->`)) return []
    return [finding(path, 0, `needs the generated region "${region}" below the heading ${name}`)]
  })
}

function checkFigures(path: string, text: string, sources: ReadonlyMap<string, string>): Finding[] {
  let isTable = false
  return text.split('\n').flatMap((line, index) => {
    if (!line.startsWith('|')) isTable = false
    else if (/\| In \|$/.test(line)) isTable = true
    else if (isTable && !line.startsWith('|---')) return checkFigure(path, index, line, sources)
    return []
  })
}

function checkFigure(path: string, index: number, line: string, sources: ReadonlyMap<string, string>): Finding[] {
  const [value = '', place = ''] = line.split('|').slice(-3, -1).map((cell) => cell.trim())
  const [, file = '', name = ''] = /^`([^`]+)` `([A-Za-z_]+)`$/.exec(place) ?? []
  const source = sources.get(posix.join(posix.dirname(path), file))
  if (source === undefined) return [finding(path, index, 'the last column names a file and a constant: `a.ts` `name`')]
  const given = new RegExp(`\\b${name}(?:: [A-Za-z]+)?(?: =|:| \\?\\?) (?:defaultTo\\()?([\\d_A-Za-z* ]+)`, 'g')
  const figures = [...source.matchAll(given)].map(([, expression = '']) => product(expression))
  if (figures.includes(figureOf(value))) return []
  return [finding(path, index, `${file} does not give ${name} the value ${value}`)]
}

const units: Readonly<Record<string, number>> = {
  KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, ms: 1, s: 1000, min: 60_000, h: 3_600_000, second: 1000, minute: 60_000,
}

/** `64 KiB`, `1,000` or `30 s`; a word that is no unit counts once. */
function figureOf(value: string): number {
  const [, figure = '', unit = ''] = /^([\d,.]+)(?: ([A-Za-z]+))?/.exec(value) ?? []
  return Number(figure.replaceAll(',', '')) * (units[unit] ?? 1)
}

/** `64 * 1024`, `64 * 2 ** 20`, `2 * minute` or `10_000`. */
function product(expression: string): number {
  const plain = expression.replace(/(\d+) \*\* (\d+)/g, (_, base: string, power: string) => {
    return `${Number(base) ** Number(power)}`
  })
  const factors = plain.split('*').map((factor) => factor.trim())
  return factors.reduce((value, factor) => value * (units[factor] ?? Number(factor.replaceAll('_', ''))), 1)
}

function finding(file: string, index: number, message: string): Finding {
  return { file, line: index + 1, rule: 'part-documents', message }
}
