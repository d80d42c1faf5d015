/**
 * SQLite in the place of this server's log, as a child: `append` inserts so many events, each in a transaction of its
 * own that is synced, and tells how many milliseconds that took. Plain JavaScript, for a Node that has node:sqlite.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { answer } from '../../../dist/scripts/bench/child.js'
import { actionEvent } from '../../../dist/scripts/bench/sample-event.js'

const folder = mkdtempSync(join(tmpdir(), 'bench-sqlite-'))
const database = new DatabaseSync(join(folder, 'events.db'))
database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE events (number INTEGER PRIMARY KEY, json TEXT NOT NULL)')
const insert = database.prepare('INSERT INTO events (json) VALUES (?)')

answer(
  {
    append(count) {
      const begin = performance.now()
      for (let left = count; left > 0; left--) insert.run(actionEvent())
      return performance.now() - begin
    },
  },
  () => {
    database.close()
    rmSync(folder, { recursive: true, force: true })
  },
)
