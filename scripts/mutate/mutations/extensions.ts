/** Promises of src/parts/extensions and of the archives of src/parts/git. See scripts/mutate/mutation.ts. */
import type { Mutation } from '../mutation.ts'

const archive = ['test/parts/extensions/archive.test.ts']
const install = ['test/parts/extensions/install-long.test.ts']
const plugins = ['test/e2e/plugins.test.ts']
const git = ['test/parts/git/archive-long.test.ts']

export const extensionsMutations: readonly Mutation[] = [
  {
    file: 'src/parts/extensions/archive/names.ts',
    old: "if (parts.includes('..')) throw refused(name, 'it has \"..\"')",
    new: '',
    promise: 'No name of an archive leads out of the folder.',
    tests: archive,
  },
  {
    file: 'src/parts/extensions/archive/names.ts',
    old: 'if (depth < 0) throw',
    new: 'if (depth < -99) throw',
    promise: 'No link of an archive leads out of it.',
    tests: archive,
  },
  {
    file: 'src/parts/extensions/archive/names.ts',
    old: "const key = path.normalize('NFC').toLowerCase()",
    new: 'const key = path',
    promise: 'Names that differ in case or Unicode form only are refused.',
    tests: archive,
  },
  {
    file: 'src/parts/extensions/archive/zip.ts',
    old: 'if (record.offset !== position) throw',
    new: 'if (record.offset > file.size) throw',
    promise: 'Entries of a zip archive do not overlap, and nothing lies between them.',
    tests: archive,
  },
  {
    file: 'src/parts/extensions/archive/zip.ts',
    old: 'if (crc !== record.crc) throw',
    new: 'if (crc === -1) throw',
    promise: 'The checksum of an entry is compared.',
    tests: archive,
  },
  {
    file: 'src/parts/extensions/archive/zip.ts',
    old: 'if (budget.left < 0) throw',
    new: 'if (budget.left < -1e12) throw',
    promise: 'A zip archive unpacks to a limited number of bytes.',
    tests: archive,
  },
  {
    file: 'src/parts/extensions/archive/bytes.ts',
    old: 'if (this.#read > this.#limitBytes) throw tooMuch(this.#limitBytes)',
    new: '',
    promise: 'A tar archive unpacks to a limited number of bytes, whatever they are.',
    tests: archive,
  },
  {
    file: 'src/parts/extensions/archive/tar.ts',
    old: "if (!isZero(block)) throw unusable('bytes follow its end')",
    new: '',
    promise: 'Nothing follows the end of a tar archive.',
    tests: archive,
  },
  {
    file: 'src/parts/extensions/archive/zip-directory.ts',
    old: "if (found.length > 1) throw unusable('it has two end records')",
    new: '',
    promise: 'A zip archive has one end record.',
    tests: archive,
  },
  {
    file: 'src/parts/extensions/source.ts',
    old: "const hasMore = url.username !== '' ||",
    new: 'const hasMore =',
    promise: 'A source with credentials is refused, so that none is stored or shown.',
    tests: install,
  },
  {
    file: 'src/parts/extensions/shelf.ts',
    old: 'else await rename(path, join(folder, name))',
    new: '',
    promise: 'A kill between the two renames of a replacement loses no extension.',
    tests: install,
  },
  {
    file: 'src/parts/extensions/start.ts',
    old: '  await emptyWork(root)\n',
    new: '',
    promise: 'The next start removes the work of a killed installation.',
    tests: install,
  },
  {
    file: 'src/parts/extensions/installer.ts',
    old: 'enabled: !hasPrograms(plugin)',
    new: 'enabled: true',
    promise: 'A plugin with programs is installed disabled.',
    tests: plugins,
  },
  {
    file: 'src/parts/extensions/conversation-plugins.ts',
    old: "if (!match.record.enabled) throw unusable(match.record.name, 'it is disabled')",
    new: '',
    promise: 'A disabled plugin cannot be named.',
    tests: plugins,
  },
  {
    file: 'src/conversation/list/plugins.ts',
    old: 'mcp_config: { ...servers, ...agent.mcp_config }',
    new: 'mcp_config: { ...agent.mcp_config, ...servers }',
    promise: 'An MCP server of the request wins over one of a plugin.',
    tests: plugins,
  },
  {
    file: 'src/conversation/list/creation.ts',
    old: 'kind.takesAdditions && agent.agent_context?.load_user_skills === true',
    new: 'kind.takesAdditions',
    promise: 'Enabled plugins come only to conversations that load the skills of the user.',
    tests: plugins,
  },
  {
    file: 'src/parts/git/archive.ts',
    old: ', ...(await submodulesIn(run, tree))]',
    new: ', ...((await submodulesIn(run, tree)), [])]',
    promise: 'A patch runs nothing in a submodule.',
    tests: git,
  },
  {
    file: 'src/parts/git/archive.ts',
    old: '    GIT_OBJECT_DIRECTORY: objects,\n',
    new: '',
    promise: 'A patch writes no object of the repository.',
    tests: git,
  },
]
