/** Promises of src/api: the answer that each client gets, sockets and streams. See scripts/mutate/mutation.ts. */
import type { Mutation } from '../mutation.ts'

export const apiMutations: readonly Mutation[] = [
  {
    file: 'src/api/requests.ts',
    old: '? keys?.find(credential.key) : undefined',
    new: '? keys?.find(credential.key) ?? anyone : undefined',
    promise: 'A wrong key is refused.',
    tests: ['test/e2e/access.test.ts'],
  },
  {
    file: 'src/api/requests.ts',
    old: 'masked(problem(thrown, rules.log, exchange.requestId, exchange.errorForm), rules.mask)',
    new: 'problem(thrown, rules.log, exchange.requestId, exchange.errorForm)',
    promise: 'What a failed request is told is masked.',
    tests: ['test/e2e/canaries.test.ts'],
  },
  {
    file: 'src/api/event-stream.ts',
    old: 'return last === undefined || last === \'\' ? asked : { mode: \'after\', eventId: last }',
    new: 'return asked.mode === \'after\' || last === undefined || last === \'\' ? asked : { mode: \'after\', ' +
      'eventId: last }',
    promise: 'Last-Event-ID goes before ?after=: a browser that comes back sends the older address again.',
    tests: ['test/e2e/event-stream.test.ts'],
  },
  {
    file: 'src/api/event-stream.ts',
    old: 'Buffer.concat(isStored ? [Buffer.from(`id: ${idOf(json)}\\n`), ...parts] : parts)',
    new: 'Buffer.concat([Buffer.from(`id: ${idOf(json)}\\n`), ...parts])',
    promise: 'A frame that is not stored has no id to continue after.',
    tests: ['test/e2e/event-stream.test.ts'],
  },
  {
    file: 'src/api/socket-auth.ts',
    old: 'onMessage(message) {\n      clearTimeout(timer)',
    new: 'onMessage(message) {',
    promise: 'A socket that sent its key in time stays open.',
    tests: ['test/e2e/socket-opening.test.ts'],
  },
  {
    file: 'src/api/socket-auth.ts',
    old: 'key === undefined ? undefined : by.find(key)',
    new: 'key === undefined ? undefined : by.find(key) ?? { name: \'\', keyId: undefined, rights: new Set([\'read\']), ' +
      'tag: undefined, hold: () => () => undefined }',
    promise: 'A socket with a wrong key in its first message is closed.',
    tests: ['test/e2e/socket-opening.test.ts'],
  },
  {
    file: 'src/api/socket-auth.ts',
    old: 'connection.maxMessageBytes = authFrameLimitBytes',
    new: 'void authFrameLimitBytes',
    promise: 'A socket without a key may send small messages only.',
    tests: ['test/e2e/socket-opening.test.ts', 'test/e2e/limits.test.ts', 'test/e2e/socket-compression.test.ts'],
  },
  {
    file: 'src/api/socket-auth.ts',
    old: 'const timer = setTimeout(refuse, rules.authTimeoutMs)',
    new: 'const timer = setTimeout(() => undefined, rules.authTimeoutMs)',
    promise: 'A socket that sends no key is closed.',
    tests: ['test/e2e/socket-opening.test.ts'],
  },
  {
    file: 'src/api/event-socket.ts',
    old: "if (role !== 'user') throw new AppError(",
    new: "if (role === 'system') throw new AppError(",
    promise: 'A client cannot speak for the agent.',
    tests: ['test/e2e/socket.test.ts', 'test/e2e/bad-input.test.ts'],
  },
  {
    file: 'src/conversation/conversation.ts',
    old: 'return this.events.seqOf(id) + 1',
    new: 'return this.events.seqOf(id)',
    promise: 'A client that continues after an event does not get it again.',
    tests: ['test/e2e/socket.test.ts', 'test/e2e/resume.test.ts'],
  },
  {
    file: 'src/api/conversations.ts',
    old: 'throw cannotMove(workspace.working_dir)',
    new: 'void cannotMove(workspace.working_dir)',
    promise: 'A patch that would move a conversation is refused.',
    tests: ['test/e2e/conversations.test.ts'],
  },
]
