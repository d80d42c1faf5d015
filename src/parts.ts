/**
 * The parts of this build, one line each. Delete a part's folder and its line, and the rest compiles and works.
 *
 * Outside a part's folder no other file imports its description. A description is small; the part itself is loaded when
 * it is needed.
 */
export { absent } from './parts/absent/part.ts'
export { bash } from './parts/bash/part.ts'
export { browser } from './parts/browser/part.ts'
export { builtin } from './parts/builtin/part.ts'
export { consolePart } from './parts/console/part.ts'
export { demo } from './parts/demo/part.ts'
export { docs } from './parts/docs/part.ts'
export { doctor } from './parts/doctor/part.ts'
export { extensions } from './parts/extensions/part.ts'
export { files } from './parts/files/part.ts'
export { git } from './parts/git/part.ts'
export { hooks } from './parts/hooks/part.ts'
export { install } from './parts/install/part.ts'
export { mcp } from './parts/mcp/part.ts'
export { models } from './parts/models/part.ts'
export { openai } from './parts/openai/part.ts'
export { profiles } from './parts/profiles/part.ts'
export { skills } from './parts/skills/part.ts'
export { subagents } from './parts/subagents/part.ts'
export { webhooks } from './parts/webhooks/part.ts'
export type { Part } from './part.ts'
