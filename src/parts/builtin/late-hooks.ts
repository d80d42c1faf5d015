/** The hooks of a conversation (agents/hooks.ts), loaded at their first use. */
import type { HookHost, Hooks } from '../../agents/hooks.ts'

const noHooks: Hooks = {
  begin: async () => undefined,
  takeOpening: () => [],
  contextOf: async () => [],
  beforeTool: async () => ({ refusal: undefined, notes: [] }),
  afterTool: async () => [],
  objectionToStop: async () => undefined,
  endTurn: async () => undefined,
  close: async () => undefined,
}

/** Returns the hooks of a conversation; hooks that do nothing if none are configured. @param open loads the hooks */
export function hooksOf(host: Pick<HookHost, 'hookConfig'>, open: () => Promise<Hooks>): Hooks {
  if (host.hookConfig === null) return noHooks
  let opening: Promise<Hooks> | undefined
  let opened: Hooks | undefined
  const hooks = async (): Promise<Hooks> => (opened = await (opening ??= open()))
  return {
    begin: async (signal) => (await hooks()).begin(signal),
    // Hooks that are not loaded have not run, so there is no text of start hooks.
    takeOpening: () => opened?.takeOpening() ?? [],
    contextOf: async (message) => (await hooks()).contextOf(message),
    beforeTool: async (use, signal) => (await hooks()).beforeTool(use, signal),
    afterTool: async (use, observation, signal) => (await hooks()).afterTool(use, observation, signal),
    objectionToStop: async (objections, signal) => (await hooks()).objectionToStop(objections, signal),
    endTurn: async (turn) => opened?.endTurn(turn),
    close: async () => (await opening?.catch(() => undefined))?.close(), // Hooks that failed to load are not closed.
  }
}
