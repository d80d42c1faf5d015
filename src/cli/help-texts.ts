/** The `--help` texts of the subcommands `verify` and `key`. */

const verify = `Usage: agent-server verify [--json] [options] [ID ...]
       agent-server verify [options] --expect HEAD ID

Checks the stored data: the format, the keys, the sealed files and every conversation, line by line; with
ids only these conversations. It changes nothing and can be used while a server runs there. With --expect
it also says whether the log of one conversation still contains a head that was noted earlier.

  --json                        Print the result as JSON, for programs
  --expect HEAD                 A head that an earlier verify printed

Give folder, keys and configuration file as for the server (--data-dir, --secret-key-file, --config;
see agent-server --help).

Exit codes
  0  everything is sound                             2  cannot use the options
  1  something is damaged, or no longer as expected  5  cannot use the data folder
`

const key = `Usage: agent-server key [--show] [options]

Prints the path of the file with the session key that the server made for its data folder, or with
--show the key itself. A key that was given to the server as an option is not in that file.

  --show                        Print the key, for instance: KEY=$(agent-server key --show)

Give folder and configuration file as for the server (--data-dir, --config; see agent-server --help).

Exit codes
  0  printed                                         2  cannot use the options
  1  there is no such key: start the server          5  cannot read the key
`

export const helpTexts: Readonly<Record<string, string>> = { verify, key }
