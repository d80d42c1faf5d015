/**
 * Lists the frames of a tab, and calls scripts in a frame.
 *
 * Scripts run in an isolated world: they share the document with the page, but not its JavaScript objects. So a page
 * cannot replace the functions that a script calls. Rules: DevTools Protocol, domains Page, Runtime and Target.
 */
import { AppError } from '../../base/errors.ts'
import type { JsonValue } from '../../base/json.ts'
import type { CallOptions, CdpSession } from './connection.ts'
import { objectOf, objectsOf, type Fields } from '../../base/fields.ts'
import { lineOf, numberOrZero, textOrEmpty } from './fields.ts'

export interface PageFrame {
  readonly id: string
  readonly url: string
  /** The CDP session with the process that runs the frame. */
  readonly session: CdpSession
}

/** A CDP session of a tab: for its page, or for a frame that runs in another process. */
export interface FrameSession {
  readonly session: CdpSession
  /** The id of the outermost frame of the session. */
  readonly frameId: string
  /** The session of the document that contains the `iframe` element; undefined for the page itself. */
  readonly parent: FrameSession | undefined
}

const worldName = 'agent-server'
const frameLimit = 50

/**
 * Lists at most `frameLimit` frames of a tab, the page's own frame first. Leaves out the frames in another process if
 * the command to that process fails with an AppError, for example because the frame has gone.
 * @throws the errors of `CdpConnection.call`
 */
export async function listFrames(sessions: readonly FrameSession[], options: CallOptions): Promise<PageFrame[]> {
  const frames: PageFrame[] = []
  for (const { session, parent } of sessions) {
    try {
      const { frameTree } = await session.call('Page.getFrameTree', {}, options)
      addTree(frames, session, objectOf(frameTree))
    } catch (thrown) {
      if (parent === undefined || !(thrown instanceof AppError)) throw thrown
    }
  }
  return frames.slice(0, frameLimit)
}

/**
 * Calls the JavaScript function `source` (its text) in a frame. Returns the result of the function, an object.
 * @throws AppError `upstream_failed` when the function throws; the errors of `CdpConnection.call`
 */
export async function callIn(
  frame: PageFrame, source: string, args: readonly JsonValue[], options: CallOptions,
): Promise<Fields> {
  return objectOf((await callRaw(frame, source, args, true, options))['value'])
}

/** Calls a function that returns an element or null. Returns the `objectId` of the element; undefined for null. */
export async function elementIn(
  frame: PageFrame, source: string, args: readonly JsonValue[], options: CallOptions,
): Promise<string | undefined> {
  return textOrEmpty((await callRaw(frame, source, args, false, options))['objectId']) || undefined
}

/** Calls the JavaScript function `source` (its text) with an element as `this`. Returns the function's result. */
export async function callOn(
  session: CdpSession, objectId: string, source: string, args: readonly JsonValue[], options: CallOptions,
): Promise<unknown> {
  const answer = await session.call(
    'Runtime.callFunctionOn',
    {
      functionDeclaration: source,
      objectId,
      arguments: args.map((value) => ({ value })),
      returnByValue: true,
    },
    options,
  )
  return resultOf(answer)['value']
}

/** Returns where a session's outermost frame begins (its upper left corner) in the tab's viewport, in CSS pixels. */
export async function originOf(
  { frameId, parent }: FrameSession, options: CallOptions,
): Promise<{ x: number; y: number }> {
  if (parent === undefined) return { x: 0, y: 0 }
  const { backendNodeId } = await parent.session.call('DOM.getFrameOwner', { frameId }, options)
  const element = { backendNodeId: numberOrZero(backendNodeId) }
  const { model } = await parent.session.call('DOM.getBoxModel', element, options)
  const [left, top] = numbersOf(objectOf(model)['content'])
  const outer = await originOf(parent, options)
  return { x: outer.x + (left ?? 0), y: outer.y + (top ?? 0) }
}

/** Returns the upper left corner of an element's first non-empty box, in the session's viewport. @throws AppError */
export async function cornerOf(
  session: CdpSession, objectId: string, options: CallOptions,
): Promise<{ x: number; y: number }> {
  const { quads } = await session.call('DOM.getContentQuads', { objectId }, options)
  const boxes = Array.isArray(quads) ? quads.map(numbersOf) : []
  const [left, top] = boxes.find(([x0, y0, x1, , , y2]) => x0 !== x1 && y0 !== y2) ?? []
  if (left === undefined || top === undefined) {
    throw new AppError('upstream_failed', 'The element has no size on the page')
  }
  return { x: left, y: top }
}

async function callRaw(
  { id, session }: PageFrame, source: string, args: readonly JsonValue[], returnByValue: boolean, options: CallOptions,
): Promise<Fields> {
  // Chromium creates a world once for each document of a frame; later calls return the existing world.
  const world = await session.call('Page.createIsolatedWorld', { frameId: id, worldName }, options)
  return resultOf(await session.call('Runtime.callFunctionOn', {
    functionDeclaration: source,
    executionContextId: numberOrZero(world['executionContextId']),
    arguments: args.map((value) => ({ value })),
    returnByValue,
  }, options))
}

function resultOf(answer: Fields): Fields {
  const { exceptionDetails, result } = answer
  if (exceptionDetails === undefined) return objectOf(result)
  const { exception, text } = objectOf(exceptionDetails)
  const why = lineOf(objectOf(exception)['description'] ?? text, 300)
  throw new AppError('upstream_failed', `A script of this server failed in the page: ${why}`)
}

function addTree(frames: PageFrame[], session: CdpSession, tree: Fields): void {
  const { id, url, urlFragment } = objectOf(tree['frame'])
  frames.push({ id: textOrEmpty(id), url: textOrEmpty(url) + textOrEmpty(urlFragment), session })
  for (const child of objectsOf(tree['childFrames'])) addTree(frames, session, child)
}

function numbersOf(value: unknown): number[] {
  return Array.isArray(value) ? value.map(numberOrZero) : []
}
