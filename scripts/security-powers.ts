/** Writes the table "Which file can do harm" of SECURITY.md from the table of powers. `npm run check:shape` compares the two. */
import { readFileSync, writeFileSync } from 'node:fs'
import { withPowers } from './shape/security-table.ts'

const security = new URL('../../SECURITY.md', import.meta.url)
writeFileSync(security, withPowers(readFileSync(security, 'utf8')))
