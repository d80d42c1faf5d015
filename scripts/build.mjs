/**
 * `npm run build`: makes `dist` from `src`, `test` and `scripts`. All scripts of package.json that run something from
 * `dist` run this first, so nothing runs an older build than the source.
 *
 * Compiles with the project's own TypeScript (incremental: the state is in `dist`), removes from `dist` the files of a
 * deleted source file, and joins the program into `dist/agent-server.js`.
 * When no input has changed since the last complete build, it does nothing. Inputs are compared by path, size and time.
 *
 * Plain JavaScript, because it runs when nothing is built. With `--if-possible`, as `npm ci` runs it, a missing
 * compiler is told and is no failure: that is the state after an install without development packages.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const sources = ['src', 'test', 'scripts']
/** The page of the console, compiled for browsers by itself; its folder may have been deleted with the part. */
const page = 'src/parts/console/page'
const program = join(root, 'dist/agent-server.js')
/** Lists the inputs of the last complete build. */
const record = join(root, 'dist/inputs.txt')

process.exitCode = build()

function build() {
  const paths = sources.flatMap((folder) => filesIn(folder)).filter((path) => path.endsWith('.ts'))
  const others = filesIn(page).filter((path) => !path.endsWith('.ts'))
  const inputs = describe([...paths, ...others, 'scripts/build.mjs', 'tsconfig.json', 'package-lock.json'])
  if (existsSync(program) && existsSync(record) && readFileSync(record, 'utf8') === inputs) return 0
  const compiler = findCompiler()
  if (compiler === undefined) return tellMissingCompiler()
  rmSync(record, { force: true })
  if (!run([compiler, '-p', 'tsconfig.json'])) return 1
  if (existsSync(join(root, page)) && !run([compiler, '-p', `${page}/tsconfig.json`])) return 1
  removeStale(new Set(paths.map((path) => path.slice(0, -'.ts'.length))))
  if (!run(['dist/scripts/join.js'])) return 1
  chmodSync(program, 0o755)
  writeFileSync(record, inputs)
  return 0
}

/** Paths of the files in a folder, relative to the root; none where there is no such folder. */
function filesIn(folder) {
  if (!existsSync(join(root, folder))) return []
  const entries = readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return files.map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(root.length)).sort()
}

/** A line for each input: path, size and time of change. */
function describe(paths) {
  return paths.map((path) => {
    const { size, mtimeMs } = statSync(join(root, path))
    return `${path} ${size} ${mtimeMs}\n`
  }).join('')
}

/** Removes outputs whose source is gone. `kept` holds the paths of sources without `.ts`. */
function removeStale(kept) {
  for (const path of sources.flatMap((folder) => filesIn(`dist/${folder}`))) {
    const source = path.slice('dist/'.length).replace(/(?:\.d\.ts|\.js(?:\.map)?)$/, '')
    if (!kept.has(source)) rmSync(join(root, path))
  }
}

function findCompiler() {
  try {
    return fileURLToPath(new URL('bin/tsc', import.meta.resolve('typescript/package.json')))
  } catch {
    return undefined
  }
}

function tellMissingCompiler() {
  const isOptional = process.argv.includes('--if-possible')
  process.stderr.write(`${isOptional ? 'Not built' : 'Cannot build'}: the compiler is not installed, for instance `
    + 'because NODE_ENV is "production". To build: npm ci --include=dev. '
    + 'Node 22.18 and later run the source without a build: npm start\n')
  return isOptional ? 0 : 1
}

function run(args) {
  return spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' }).status === 0
}
