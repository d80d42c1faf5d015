/** Promises of src/base: masking, times and ids, files, the log. See scripts/mutate/mutation.ts. */
import type { Mutation } from '../mutation.ts'

const masking = ['test/base/masking.test.ts']

export const baseMutations: readonly Mutation[] = [
  {
    file: 'src/base/masking-stream.ts',
    old: 'this.#read(this.#held.text())',
    new: 'this.#length += this.#held.text().length',
    promise: 'A secret that is registered while a text is on its way is hidden in what is held back of it.',
    tests: masking,
  },
  {
    file: 'src/base/masking-stream.ts',
    old: 'const exact = this.#length - this.#search.depth(this.#cursor.state)',
    new: 'const exact = this.#length',
    promise: 'A secret that is cut in two by a border of chunks is hidden.',
    tests: masking,
  },
  {
    file: 'src/base/masking.ts',
    old: 'if (entry === undefined || --entry.count > 0) return',
    new: 'if (entry === undefined || --entry.count > 5) return',
    promise: 'A value that was registered twice is hidden until both have let it go.',
    tests: masking,
  },
  {
    file: 'src/base/masking-wrapped.ts',
    old: "if (isDigit(codeUnit)) readings.push({ phase: 'number', state: joined, gap, digits: 0 })",
    new: '',
    promise: 'A secret that was broken into lines with numbers is hidden.',
    tests: ['test/base/masking-wrapped.test.ts'],
  },
  {
    file: 'src/base/masking-stream.ts',
    old: 'if (begins && ends) this.#hide(',
    new: 'if (begins || ends) this.#hide(',
    promise: 'A short value is hidden as a whole word only.',
    tests: masking,
  },
  {
    file: 'src/base/masking-trie.ts',
    old: 'const failure = parent === 0 ? 0 : this.#failureOf(at(this.failure, parent), unit)',
    new: 'const failure = 0',
    promise: 'A secret is found behind the beginning of another one.',
    tests: masking,
  },
  {
    file: 'src/base/own-files.ts',
    old: 'await writeThrough(await openNew(temporary), content)\n    await rename(temporary, path)',
    new: 'await writeThrough(await openNew(path + temporary.slice(-8)), content)\n' +
      '    await rename(path + temporary.slice(-8), path)',
    promise: 'What a crash leaves of a write is found and removed by its name.',
    tests: ['test/base/json-file.test.ts'],
  },
  {
    file: 'src/base/own-files.ts',
    old: 'await write(temporary)\n  } catch (thrown) {\n    await removeFile(temporary).catch(() => undefined)',
    new: 'await write(temporary)\n  } catch (thrown) {',
    promise: 'A write that fails leaves no temporary file.',
    tests: ['test/base/json-file.test.ts'],
  },
  {
    file: 'src/base/own-files.ts',
    old: 'return open(path, \'wx\', ownFile)',
    new: 'return open(path, \'wx\', 0o644)',
    promise: 'Files of the server are readable by its user only.',
    tests: ['test/base/json-file.test.ts'],
  },
  {
    file: 'src/base/stamp.ts',
    old: 'last = Math.max(last + 1, Math.floor(clock() * 1000))',
    new: 'last = Math.floor(clock() * 1000)',
    promise: 'Times and ids increase strictly, also when the clock stands or jumps back.',
    tests: ['test/base/stamp.test.ts'],
  },
  {
    file: 'src/base/log.ts',
    old: 'write(`${mask(JSON.stringify(line))}\\n`)',
    new: 'write(`${JSON.stringify({ ...line, message: mask(message) })}\\n`)',
    promise: 'A whole line of the log is masked and not only its message.',
    tests: ['test/base/log.test.ts'],
  },
  {
    file: 'src/base/secret-address.ts',
    old: 'return text.length >= 20 && /\\d/.test(text) && /^[\\w~.%+-]+$/.test(text)',
    new: 'return text.length >= 200 && /\\d/.test(text) && /^[\\w~.%+-]+$/.test(text)',
    promise: 'A value in the query of an address that looks like a token is a secret, whatever its name.',
    tests: ['test/base/secret-address.test.ts'],
  },
  {
    file: 'src/base/wait.ts',
    old: 'if (signal?.aborted) return reject(signal.reason)\n    const stop = (): void => {\n      clearTimeout(timer)',
    new: 'const stop = (): void => {\n      clearTimeout(timer)',
    promise: 'sleep() with a signal that is aborted already does not wait.',
    tests: ['test/base/wait.test.ts'],
  },
  {
    file: 'src/base/json.ts',
    old: '  if (text.length > valueLimit) assertFewValues(text, valueLimit)\n' +
      '  const value: unknown = JSON.parse(text)\n',
    new: '  const value: unknown = JSON.parse(text)\n' +
      '  if (text.length > valueLimit) assertFewValues(text, valueLimit)\n',
    promise: 'The values of a text are counted before anything of it is built.',
    tests: ['test/base/json.test.ts'],
  },
  {
    file: 'src/base/loader-variable.ts',
    old: 'return tools.has(first) && !plainWords.has(last)',
    new: 'return false',
    promise: 'A name that begins with that of a tool steers it.',
    tests: ['test/base/loader-variable.test.ts'],
  },
]
