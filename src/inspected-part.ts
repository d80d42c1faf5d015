/** The members of a part (`Part`) that `doctor`, `verify` and a change of the sealing (encryption) key use. */
import type { Finding } from './finding.ts'
import type { Environment } from './process/environment.ts'
import type { OpenSealedFile } from './settings/sealed-file.ts'

export interface InspectedPart {
  /** Examines the machine for `agent-server doctor`. */
  readonly examine?: (
    options: Readonly<Record<string, unknown>>, environment: Environment,
  ) => Promise<Finding | readonly Finding[]>
  /** Checks the part's own files in the data folder for `agent-server verify`. */
  readonly inspectFolder?: (dataDir: string) => Promise<FolderInspection>
  /** The part's file in the data folder that has encrypted (sealed) values. */
  readonly sealedFile?: SealedFileOfPart
}

export interface FolderInspection {
  /** A sentence for each problem of the checked files. */
  readonly problems: readonly string[]
  /** A sentence about the checked files; undefined when a file has a problem or the part has no files. */
  readonly sound: string | undefined
}

export interface SealedFileOfPart {
  readonly name: string
  readonly load: () => Promise<OpenSealedFile>
}
