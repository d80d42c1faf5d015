/**
 * Inputs that make a regular expression slow, made from its structure: a beginning that it matches, a text that is
 * repeated, and an end on which it fails.
 *
 * The repeated texts are the characters that its classes tell apart, each pair of them, the texts that its loops match,
 * and the beginnings of its loops. So a search that is tried again at each place, two loops that match the same text,
 * and a loop in a loop all have their inputs. It is no proof: a slow input that has none of these forms is missed.
 */
import type { PatternNode } from './pattern-syntax.ts'

export interface Attack {
  readonly prefix: string
  readonly pump: string
  readonly suffix: string
}

/** The text of an attack with about this many characters. */
export function textOf({ prefix, pump, suffix }: Attack, chars: number): string {
  return prefix + pump.repeat(Math.max(1, Math.floor((chars - prefix.length - suffix.length) / pump.length))) + suffix
}

const limits = { characters: 14, pairs: 10, prefixes: 6, pumps: 160 } as const

export interface AttackKit {
  /** Ways to begin and to go on. */
  readonly attacks: readonly Attack[]
  /** Further ways to end, to be tried with the slowest of `attacks`. */
  readonly suffixes: readonly string[]
}

export function attacksOn(tree: PatternNode, flags: string): AttackKit {
  const characters = charactersOf(tree, flags)
  const loops = loopsOf(tree, '', flags, characters)
  const pairs = characters.slice(0, limits.pairs)
  const prefixes = [...new Set(['', ...loops.map(({ before }) => before)])].slice(0, limits.prefixes)
  const pumps = [...new Set([
    ...characters,
    ...loops.flatMap(({ before, bodies }) => [...bodies, ...bodies.map((body) => before + body), before]),
    ...pairs.flatMap((first) => pairs.filter((second) => second !== first).map((second) => first + second)),
  ])].filter((pump) => pump !== '').slice(0, limits.pumps)
  const ends = ['', '\u0001', '\n', '!']
  return {
    attacks: prefixes.flatMap((prefix) => pumps.flatMap((pump) => ends.map((suffix) => ({ prefix, pump, suffix })))),
    suffixes: characters,
  }
}

/** The ASCII characters, and some that only classes of Unicode have. */
const known = [
  ...Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)), '\u0085', 'é', 'ß', '\u00ad', '\u0130',
  'ſ', '中', '\u200b', '\u2028', '\u202e', '\ufeff', '\ud800', '\udc00', '😀',
]

/** One character of each set that the pattern tells apart; letters, digits and spaces first. */
function charactersOf(tree: PatternNode, flags: string): readonly string[] {
  const sources = [...new Set(charSources(tree))]
  const tests = sources.map((source) => matcherOf(source, flags))
  const bySignature = new Map<string, string>()
  const order = [...known].sort((a, b) => rank(a) - rank(b))
  for (const character of order) {
    const signature = tests.map((test) => (test.test(character) ? '1' : '0')).join('')
    if (!bySignature.has(signature)) bySignature.set(signature, character)
  }
  // The more sets have a character, the more ways there are to match it.
  const weight = (signature: string): number => signature.replaceAll('0', '').length
  return [...bySignature].sort(([a], [b]) => weight(b) - weight(a)).map(([, character]) => character)
    .slice(0, limits.characters)
}

function rank(character: string): number {
  return /[a-z0-9 ]/.test(character) ? 0 : /[\x20-\x7e]/.test(character) ? 1 : 2
}

function matcherOf(source: string, flags: string): RegExp {
  return new RegExp(`^(?:${source})$`, flags.replaceAll(/[^isuv]/g, ''))
}

function charSources(node: PatternNode): readonly string[] {
  switch (node.kind) {
    case 'char': return [node.source]
    case 'sequence': return node.items.flatMap(charSources)
    case 'choice': return node.options.flatMap(charSources)
    case 'repeat': case 'look': return charSources(node.body)
    case 'empty': return []
  }
}

interface Loop {
  /** A text that matches the part of the expression before the loop. */
  readonly before: string
  /** Texts that match one round. */
  readonly bodies: readonly string[]
}

/** Returns the loops of a tree, with the loops inside of other loops. */
function loopsOf(node: PatternNode, before: string, flags: string, characters: readonly string[]): readonly Loop[] {
  const sample = (one: PatternNode, wanted: string): string => sampleOf(one, wanted, flags, characters)
  switch (node.kind) {
    case 'char': case 'empty': return []
    case 'look': return loopsOf(node.body, before, flags, characters)
    case 'choice': return node.options.flatMap((option) => loopsOf(option, before, flags, characters))
    case 'sequence': {
      let text = before
      return node.items.flatMap((item) => {
        const loops = loopsOf(item, text, flags, characters)
        text += sample(item, '')
        return loops
      })
    }
    case 'repeat': {
      const inside = loopsOf(node.body, before, flags, characters)
      if (node.max <= 1) return inside
      const options = node.body.kind === 'choice' ? node.body.options : [node.body]
      const wanted = ['', ...characters.slice(0, limits.pairs)]
      const bodies = [...new Set(options.flatMap((option) => wanted.map((one) => sample(option, one))))]
      return [{ before, bodies: bodies.filter((body) => body !== '') }, ...inside]
    }
  }
}

/** A short text that a node matches, of the wanted character where it can be. */
function sampleOf(node: PatternNode, wanted: string, flags: string, characters: readonly string[]): string {
  const sample = (one: PatternNode): string => sampleOf(one, wanted, flags, characters)
  switch (node.kind) {
    case 'char': {
      const matcher = matcherOf(node.source, flags)
      return [wanted, ...characters, ...known].find((one) => one !== '' && matcher.test(one)) ?? ''
    }
    case 'sequence': return node.items.map(sample).join('')
    case 'choice': return node.options.map(sample).sort((a, b) => a.length - b.length)[0] ?? ''
    case 'repeat': return sample(node.body).repeat(Math.min(Math.max(node.min, wanted === '' ? 0 : 1), node.max))
    case 'look': case 'empty': return ''
  }
}
