/** The operations about the machine that the server runs on: its files, repositories and commands. */
import { bashEndpoints } from './bash.ts'
import type { Endpoint } from './define.ts'
import { fileEndpoints } from './files.ts'
import { gitEndpoints } from './git.ts'

export const machineEndpoints: readonly Endpoint[] = [...bashEndpoints, ...fileEndpoints, ...gitEndpoints]
