/** Reading the lines of strace: files by folder and descriptor, programs, addresses, calls that are interrupted. */
import * as assert from 'uvu/assert'
import { readTrace } from '../../../scripts/trace/read-trace.ts'
import { suite } from '../../support/suite.ts'

const test = suite('scripts/trace')

/** Each thing as `kind name`. */
function read(...lines: readonly string[]): readonly string[] {
  return readTrace(lines.join('\n')).map(({ kind, name }) => `${kind} ${name}`)
}

const start = '10 execve("/usr/bin/node", ["node"], 0x7f /* 9 vars */) = 0'

test('tells reading, looking at and changing a file apart', () => {
  assert.equal(read(
    start,
    '10 openat(AT_FDCWD</srv>, "/etc/hosts", O_RDONLY|O_CLOEXEC) = 3</etc/hosts>',
    '10 openat(AT_FDCWD</srv>, "data/x", O_WRONLY|O_CREAT|O_APPEND, 0600) = 4</srv/data/x>',
    '10 newfstatat(AT_FDCWD</srv>, "/", {st_mode=S_IFDIR|0755, ...}, 0) = 0',
    '10 rename("/srv/a", "/srv/b") = 0',
    '10 access("/no/where", F_OK) = -1 ENOENT (No such file or directory)',
  ), [
    'program node', 'read /etc/hosts', 'change /srv/data/x', 'look /', 'change /srv/a', 'change /srv/b',
    'look /no/where',
  ])
})

test('resolves a path below a descriptor, also one of another thread', () => {
  assert.equal(read(
    start,
    '10 clone3({flags=CLONE_VM|CLONE_THREAD, ...}, 88) = 11',
    '11 openat(AT_FDCWD</>, "/srv/work", O_RDONLY|O_DIRECTORY) = 30</srv/work>',
    '10 openat(AT_FDCWD</>, "/proc/self/fd/30/new.txt", O_WRONLY|O_CREAT, 0600) = 31</srv/work/new.txt>',
    '10 openat(AT_FDCWD</>, "/proc/10/cgroup", O_RDONLY) = 32</proc/10/cgroup>',
  ), ['program node', 'look /srv/work', 'change /srv/work/new.txt', 'read /proc/self/cgroup'])
})

test('names the programs that Node starts, and leaves their files and programs out', () => {
  assert.equal(read(
    start,
    '10 vfork( <unfinished ...>',
    '12 execve("/opt/bin/git", ["git"], 0x7f /* 2 vars */) = -1 ENOENT (No such file or directory)',
    '12 execve("/usr/bin/git", ["git"], 0x7f /* 2 vars */) = 0',
    '10 <... vfork resumed>) = 12',
    '12 openat(AT_FDCWD</>, "/etc/gitconfig", O_RDONLY) = 3</etc/gitconfig>',
    '12 vfork( <unfinished ...>',
    '13 execve("/usr/bin/less", ["less"], 0x7f /* 2 vars */) = 0',
    '12 <... vfork resumed>) = 13',
    '10 openat(AT_FDCWD</>, "/etc/shadow", O_RDONLY) = 3</etc/shadow>',
  ), ['program node', 'look /opt/bin/git', 'program git', 'read /etc/shadow'])
})

test('names the addresses of every process', () => {
  assert.equal(read(
    start,
    '10 bind(19<socket:[1]>, {sa_family=AF_INET, sin_port=htons(0), sin_addr=inet_addr("127.0.0.1")}, 16) = 0',
    '10 clone(child_stack=NULL, flags=SIGCHLD) = 14',
    '14 execve("/usr/bin/curl", ["curl"], 0x7f /* 2 vars */) = 0',
    '14 connect(5, {sa_family=AF_INET6, sin6_port=htons(443), inet_pton(AF_INET6, "2001:db8::1", &sin6_addr)}, 28) = 0',
    '10 connect(3, {sa_family=AF_UNIX, sun_path="/run/x"}, 110) = 0',
  ), ['program node', 'address 127.0.0.1', 'program curl', 'address 2001:db8::1', 'read /run/x'])
})

test.run()
