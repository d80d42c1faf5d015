/** Errors that end where they are caught: the errors that are found, and the reasons that count. */
import * as assert from 'uvu/assert'
import { findSwallowed } from '../../../scripts/audit/swallowed.ts'
import { readSource } from '../../../scripts/shape/source-file.ts'
import { suite } from '../../support/suite.ts'

const test = suite('scripts/audit/swallowed')

/** The line of each swallowed error, with its reason. */
function find(...lines: readonly string[]): readonly string[] {
  const found = findSwallowed(readSource('src/a.ts', `${lines.join('\n')}\n`))
  return found.map(({ line, reason }) => `${line} ${reason ?? '-'}`)
}

const swallowing: readonly [name: string, text: string][] = [
  ['an empty catch', 'try { a() } catch {}'],
  ['a catch without a name', 'try { a() } catch { return 1 }'],
  ['a catch that does not use the error', 'try { a() } catch (error) { b() }'],
  ['a catch that only compares the error', 'try { a() } catch (error) { if (codeOf(error) === 2) return 1; return 2 }'],
  ['a handler without a parameter', 'a().catch(() => undefined)'],
  ['an asynchronous handler without a parameter', 'a().catch(async () => { await b() })'],
  ['a handler with a return type', 'a().catch((): string[] => [])'],
  ['a handler that does not use its parameter', 'a().catch((error: unknown) => b())'],
  ['a bare parameter that is not used', 'a().catch(error => b())'],
  ['a handler that is called ignore', 'a().catch(ignoreCancelled)'],
  ['a second handler of then', 'a().then((b) => c(b, d), () => false)'],
  ['a listener for errors', "a.on('error', () => a.destroy())"],
  ['results of allSettled that nobody takes', 'await Promise.allSettled(all)'],
]
for (const [name, text] of swallowing) {
  test(`finds ${name}`, () => {
    assert.equal(find(text), ['1 -'])
  })
}

const handled: readonly [name: string, text: string][] = [
  ['a catch that throws', 'try { a() } catch { throw new Error() }'],
  ['a catch that throws the other errors', 'try { a() } catch (error) { if (is(error)) return; throw error }'],
  ['a catch that records the error', 'try { a() } catch (error) { log.warn("a", { error }) }'],
  ['a catch that shows the error', 'try { a() } catch (error) { b(`a: ${messageOf(error)}`) }'],
  ['a handler that returns the error', 'a().catch((error: unknown) => codeOf(error))'],
  ['a handler that rejects', 'a().catch(() => Promise.reject(b()))'],
  ['a named function that takes the error', 'a().catch(fail)'],
  ['one handler of then', 'a().then(() => false)'],
  ['a listener for something else', "a.on('close', () => b())"],
  ['results of allSettled that are taken', 'const all = await Promise.allSettled(b)'],
  ['words in strings and comments', '// catch { }\nconst a = "catch { }"'],
]
for (const [name, text] of handled) {
  test(`passes ${name}`, () => {
    assert.equal(find(text), [])
  })
}

test('takes the comment on the line, in the handler and above the statement as the reason', () => {
  assert.equal(find('a().catch(() => 1) // Gone.'), ['1 Gone.'])
  assert.equal(find('try {', '  a()', '} catch {', '  // Gone.', '}'), ['3 Gone.'])
  assert.equal(find('// Gone.', 'const a = await b', '  .c().catch(() => 1)'), ['3 Gone.'])
  assert.equal(find('const a = await b', '  // Gone.', '  .c().catch(() => 1)'), ['3 Gone.'])
  assert.equal(find('const a = {}', '// Two lines', '// of it.', 'b().catch(() => 1)'), ['4 Two lines of it.'])
})

test('takes no comment of another statement as the reason', () => {
  assert.equal(find('// Other.', 'a()', 'b().catch(() => 1)'), ['3 -'])
  assert.equal(find('// Other.', 'const a = {}', 'b().catch(() => 1)'), ['3 -'])
  assert.equal(find('// Other.', 'if (a) {', '  b().catch(() => 1)', '}'), ['3 -'])
  assert.equal(find('b().catch(() => 1)', '// Other.'), ['1 -'])
})

test.run()
