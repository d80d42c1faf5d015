/** The form of a part's README, and the figures of its limits. */
import * as assert from 'uvu/assert'
import { checkPartDocuments } from '../../../scripts/shape/part-documents.ts'
import { suite } from '../../support/suite.ts'

const test = suite('shape/part-documents')

const region = (name: string): string => `<!-- generated: ${name} -->\n<!-- /generated -->`
const form = (limits = ''): string => [
  '# A part', '## Options', region('options'), '## Routes', region('routes'), '## Limits', limits,
  '## What it can touch', region('powers'), '',
].join('\n')
const table = (row: string): string => form(`| Limit | Value | In |\n|---|---|---|\n${row}`)

/** Returns the findings about the README of one part. */
function find(readme: string | undefined, code = 'const sizeBytes = 64 * 1024\n'): string[] {
  const sources = new Map([['src/parts/a/part.ts', ''], ['src/parts/a/deep/b.ts', code]])
  const documents = new Map(readme === undefined ? [] : [['src/parts/a/README.md', readme]])
  return checkPartDocuments(sources, documents).map(({ line, message }) => `${line} ${message}`)
}

test('takes the form, with other sections between', () => {
  assert.equal(find(form()), [])
  assert.equal(find(form().replace('## Limits', '## Something else\n\n## Limits')), [])
})

test('finds a part without a README, a missing heading, another order and a table that is not generated', () => {
  assert.equal(find(undefined), ['1 is missing: each part has one'])
  const wanted = '1 needs the headings Options, Routes, Limits, What it can touch, in this order'
  assert.equal(find(form().replace('## Limits', '## Limit')), [wanted])
  assert.equal(
    find(form().replace('## Options', '## X').replace('## Routes', '## Options').replace('## X', '## Routes')),
    [wanted],
  )
  assert.equal(find(form().replace(region('routes'), '')), [
    '1 needs the generated region "routes" below the heading Routes',
  ])
})

const figures: readonly (readonly [value: string, code: string])[] = [
  ['64 KiB', 'const sizeBytes = 64 * 1024'], ['1,000 characters', 'export const sizeBytes = 1_000'],
  ['5 s', 'const sizeBytes = 5000'],
  ['2 min', 'sizeBytes: 2 * minute,'], ['64 MiB', 'a: sizeBytes ?? 64 * 2 ** 20,'],
  ['30 s', 'const { sizeBytes = 30_000 } = a'],
  ['10', 'const sizeBytes: number = 10'], ['60 seconds', 'sizeBytes: defaultTo(60, number)'],
]
for (const [value, code] of figures) {
  test(`takes ${value} for ${code}`, () => {
    assert.equal(find(table(`| A | ${value} | \`deep/b.ts\` \`sizeBytes\` |`), code), [])
  })
}

test('finds a figure that the code does not have, and a place that is none', () => {
  assert.equal(find(table('| A | 32 KiB | `deep/b.ts` `sizeBytes` |')), [
    '11 deep/b.ts does not give sizeBytes the value 32 KiB',
  ])
  assert.equal(find(table('| A | 64 KiB | `deep/b.ts` `otherBytes` |')), [
    '11 deep/b.ts does not give otherBytes the value 64 KiB',
  ])
  const noPlace = '11 the last column names a file and a constant: `a.ts` `name`'
  assert.equal(find(table('| A | 64 KiB | `b.ts` `sizeBytes` |')), [noPlace])
  assert.equal(find(table('| A | 64 KiB | somewhere |')), [noPlace])
})

test.run()
