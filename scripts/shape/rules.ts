/**
 * All rules over all files: which rule is asked of which folder.
 *
 * Pure: it gets the texts and gives the findings, so the tests of the checker can show it any tree they like.
 */
import { isGenerated } from './architecture.ts'
import { checkBags } from './bags.ts'
import { checkCircles, checkCycles, checkImports, checkUnusedGrants } from './boundaries.ts'
import { checkCapabilities, checkStart, checkUnusedNeeds } from './capabilities.ts'
import { checkCitations, type Documents } from './citations.ts'
import { checkDocuments } from './documents.ts'
import { checkExports } from './exports.ts'
import type { Finding } from './finding.ts'
import { checkMembers } from './members.ts'
import { checkPartDocuments } from './part-documents.ts'
import { checkDangerousCode, checkPowers, checkUnusedPowers } from './powers.ts'
import { checkSecurityPromises } from './security-promises.ts'
import { checkSecurityTable } from './security-table.ts'
import { checkSizes } from './sizes.ts'
import { readSource, type SourceFile } from './source-file.ts'
import { checkColumns, checkConsole, checkHeader, checkStyle } from './style.ts'

export interface Tree {
  /** Path from the repository's root -> text, of every TypeScript file in src, scripts and test. */
  readonly sources: ReadonlyMap<string, string>
  /** Path -> text of every script in plain JavaScript, of which only the width is looked at. */
  readonly plainScripts?: ReadonlyMap<string, string>
  /** Sums are checked only of a tree that has all files. */
  readonly isWhole?: boolean
  /** SECURITY.md, if there is one. */
  readonly security: string | undefined
  /** Every Markdown file; without them no citation is looked at. */
  readonly documents?: Documents | undefined
  /** Every file; without them no document is looked at. */
  readonly paths?: ReadonlySet<string> | undefined
}

/** Finds everything in a tree that breaks a rule, file by file. */
export function checkShape(tree: Tree): Finding[] {
  const files = [...tree.sources].map(([path, text]) => readSource(path, text))
  const src = files.filter(({ path }) => path.startsWith('src/'))
  const findings = [
    ...files.flatMap(checkFile),
    ...[...tree.plainScripts ?? []].flatMap(([path, text]) => checkColumns(readSource(path, text))),
    ...checkCycles(src),
    ...checkCircles(src),
    ...checkBags(src),
    ...src.flatMap(checkUnusedPowers),
    ...src.flatMap(checkStart),
    ...checkUnusedNeeds(src),
    ...(tree.isWhole === true ? [...checkSizes(src), ...checkUnusedGrants(src)] : []),
    ...checkExports(files, (path) => path.startsWith('src/') && !isGenerated(path) && path !== 'src/index.ts'),
    ...checkCitations(files.filter(({ path }) => !isGenerated(path)), tree.documents),
    ...(tree.documents === undefined || tree.paths === undefined ? [] : [
      ...checkDocuments(tree.documents, tree.paths), ...checkPartDocuments(tree.sources, tree.documents),
    ]),
    ...(tree.security === undefined
      ? []
      : [...checkSecurityTable(tree.security), ...checkSecurityPromises(tree.security, new Set(tree.sources.keys()))]),
  ]
  return findings.sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line)
}

function checkFile(file: SourceFile): Finding[] {
  const findings = isGenerated(file.path) ? [] : checkStyle(file)
  if (!file.path.startsWith('src/')) return findings
  findings.push(...checkDangerousCode(file), ...checkMembers(file), ...checkImports(file), ...checkPowers(file))
  findings.push(...checkCapabilities(file))
  if (!isGenerated(file.path)) findings.push(...checkHeader(file))
  if (!file.path.startsWith('src/cli/')) findings.push(...checkConsole(file))
  return findings
}
