/** The members of a part for `doctor`, for `verify`, and for the change of the sealing key. */
import type { Finding } from './finding.ts'
import type { Environment } from './process/environment.ts'
import type { OpenSealedFile } from './settings/sealed-file.ts'

export interface InspectedPart {
  /** Examines the machine for `agent-server doctor`. */
  readonly examine?: (
    options: Readonly<Record<string, unknown>>, environment: Environment,
  ) => Promise<Finding | readonly Finding[]>
  /** Returns a sentence for each problem of the part's own files in the data folder, for `agent-server verify`. */
  readonly inspectFolder?: (dataDir: string) => Promise<readonly string[]>
  /** A sealed file of the part in the data folder. */
  readonly sealedFile?: SealedFileOfPart
}

export interface SealedFileOfPart {
  readonly name: string
  readonly load: () => Promise<OpenSealedFile>
}
