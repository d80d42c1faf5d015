/**
 * The `--help` texts of the subcommands that are not made from the table of options. Their exit codes are those of
 * `main`.
 */

const verify = `Usage: agent-server verify [--json] [options] [ID ...]
       agent-server verify [options] --expect HEAD ID

Checks what is stored: the format, the keys, the sealed files and every conversation, line by line; with
ids only these conversations. It changes nothing and can be used while a server runs there. With --expect
it also says whether the log of one conversation still goes through a head that was noted earlier.

  --json                        The same as JSON, for programs
  --expect HEAD                 A head that an earlier verify has printed

Folder, keys and the configuration file are told as to the server (--data-dir, --secret-key-file,
--config; see agent-server --help).

Exit codes
  0  everything is sound                             2  cannot use the options
  1  something is damaged, or no longer as expected  5  cannot use the data folder
`

const keys = `Usage: agent-server keys list            the sealing keys by their ids, and which are missing
       agent-server keys rotate          make a new one in keys/ of the data folder
       agent-server keys reseal          seal everything that is stored with the newest one
       agent-server keys forget ID       one is lost: do not ask for it any more

Stored secrets are sealed with the newest key and opened with every key that is given. To change the key,
stop the server, then
  - where the key is in the data folder:    agent-server keys rotate && agent-server keys reseal
  - where it is given:                      agent-server keys reseal --secret-key-file NEW --old-secret-key-file OLD

Reseal names what still needs another key, and which keys nothing needs any more. A log is only added to: its
earlier records are not opened any more, but stay sealed with the old key. So if a key was seen by somebody,
change the secrets as well. Requests with an Idempotency-Key from before are refused when they are sent again.

Folder, keys and the configuration file are told as to the server (--data-dir, --secret-key-file,
--config; see agent-server --help).

Exit codes
  0  done                                            2  cannot use the options
  1  something still needs another key               4  a server runs on the data folder
`

const key = `Usage: agent-server key [--show] [options]

Prints the path of the file that holds the session key which the server has made for its data folder, and
with --show the key instead. A key that was given to the server as an option is not there.

  --show                        Print the key, for instance: KEY=$(agent-server key --show)

Folder and configuration file are told as to the server (--data-dir, --config; see agent-server --help).

Exit codes
  0  printed                                         2  cannot use the options
  1  there is no such key yet: start the server      5  cannot read the key
`

export const helpTexts: Readonly<Record<string, string>> = { verify, key, keys }
