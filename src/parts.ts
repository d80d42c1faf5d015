/**
 * The parts of this build, a line each: delete a part's folder and its line, and the rest compiles and works.
 *
 * Nothing but this file names a part. The descriptions that it takes are small; a part itself is loaded when it is used.
 */
export { browser } from './parts/browser/part.ts'
export { builtin } from './parts/builtin/part.ts'
export { demo } from './parts/demo/part.ts'
export { doctor } from './parts/doctor/part.ts'
export { hooks } from './parts/hooks/part.ts'
export { install } from './parts/install/part.ts'
export { mcp } from './parts/mcp/part.ts'
export { skills } from './parts/skills/part.ts'
export type { Part } from './part.ts'
