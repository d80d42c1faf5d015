/**
 * One turn of the built-in agent: a series of steps. A step calls the model and acts on its answer.
 *
 * The loop reads the history before each step. A pause aborts a running model call and lets running tools end. A stop
 * aborts the model call and the tools.
 */
import { randomUUID } from 'node:crypto'
import type { AgentHost, History } from '../../conversation/agent/host.ts'
import type { CondensingWork, Turn, TurnEnd } from '../../conversation/agent/agent.ts'
import { textIn } from '../../conversation/log/message-text.ts'
import type { LLM } from '../../schema/generated/llm.ts'
import type { ActionEvent, Event, EventDraft } from '../../schema/generated/events.ts'
import type { Message } from '../../schema/generated/values.ts'
import type { Log } from '../../base/log.ts'
import { brokenOff } from './llm/failures.ts'
import { ModelError, type ModelAnswer, type ModelClient, type ModelErrorCode } from './llm/model.ts'
import type { Tool } from '../../agents/tool.ts'
import type { Pipeline } from './condensing/pipeline.ts'
import { needsConfirmation } from './confirmation.ts'
import { keepingText, recordCut } from './recording/record-cut.ts'
import { report, type ModelChoice } from './recording/report.ts'
import { splitByMessages, type SplitAnswer } from './recording/split-answer.ts'
import type { Critic, Critique } from './critic.ts'
import { environmentMessage } from './environment-message.ts'
import { executeAll, type RecordedCall } from './execute.ts'
import type { Hooks } from '../../agents/hooks.ts'
import { maskingWays, maskMessage, maskObservation } from './recording/masked.ts'
import { originalOf, type CallCipher } from './recording/original-calls.ts'
import { recordCalls } from './recorded-calls.ts'
import { analyzed, usesDeclaredRisk } from './risk/analyze.ts'
import { Steps } from './steps.ts'
import { endStopped } from './stopped-turn.ts'
import { judgeProgress } from './view/stuck.ts'
import { modelTool, prepareCalls, withOwnIds } from './calls/tool-calls.ts'
import { unsigned } from './view/unsigned.ts'
import type { View } from './view/view.ts'

export interface LoopOptions {
  readonly host: AgentHost
  readonly turn: Turn
  readonly history: History
  readonly view: View
  /** Returns the current settings of the model: the same object until the settings change. */
  readonly llm: () => LLM
  /** Returns the client of a model. @throws ModelError for the settings that `CreateModel` (create.ts) refuses */
  readonly clientOf: (llm: LLM) => ModelClient
  /** The tools at the beginning of the turn. Each step replaces them with the result of `toolsNow`. */
  readonly tools: readonly Tool[]
  /** Returns the current tools. Called before each step, and before approved actions are executed. */
  readonly toolsNow: (signal: AbortSignal) => Promise<readonly Tool[]>
  readonly concurrencyLimit: number
  readonly hooks: Hooks
  readonly critic: Critic
  readonly condenser: Pipeline | undefined
  readonly log: Log
  /** Encrypts the calls that wait for the user's approval, and decrypts them afterwards. */
  readonly cipher: CallCipher
  /** Makes the SystemPromptEvent. Called when the history has none, such as in a run without a user message. */
  readonly introduction: () => Promise<EventDraft>
}

interface StepOptions extends LoopOptions {
  readonly steps: Steps
  /** The signal that aborts model calls at a pause or a stop. One signal serves all calls of the turn. */
  readonly ending: AbortSignal
}

/** How a step ends the turn; undefined if the turn goes on. It also goes on if a hook or the critic objects. */
type StepEnd = TurnEnd | undefined

const finished = { outcome: 'finished', served: true } as const

export async function runLoop(options: LoopOptions): Promise<TurnEnd> {
  const { turn } = options
  try {
    const steps = new Steps(options.host)
    return await runSteps({ ...options, steps, ending: AbortSignal.any([turn.signal, turn.pausing]) })
  } catch (thrown) {
    if (turn.signal.aborted || turn.pausing.aborted) return { outcome: 'stopped', served: true }
    if (thrown instanceof ModelError) {
      return { outcome: 'failed', served: true, code: thrown.code, detail: options.host.mask(thrown.message) }
    }
    throw thrown
  } finally {
    if (turn.signal.aborted || turn.pausing.aborted) await endStopped(options)
  }
}

async function runSteps(options: StepOptions): Promise<TurnEnd> {
  const { host, turn, view, history, hooks, critic, steps } = options
  await hooks.begin(turn.signal)
  view.add(await history.next())
  if (!view.hasSystemPrompt) turn.record(await options.introduction())
  const before = turn.approved.length > 0 ? undefined : view.newest.at(-1)
  for (const text of hooks.takeOpening()) correct(turn, text)
  await runApproved(await withToolsNow(options))
  let hookObjections = 0
  while (steps.take()) {
    assertGoesOn(turn)
    const now = await withToolsNow(options)
    // Choose the model before reading the history. Then a switch to this model is in the history that is read, and the
    // view drops the signatures of the earlier model.
    const llm = options.llm()
    const choice = { llm, client: options.clientOf(llm) }
    view.add(await history.next())
    const refusal = view.isOpen
      ? (overBudget(host) ?? judge(options, before) ?? refuseImages(choice, options))
      : undefined
    if (refusal !== undefined) return refusal
    const end = view.isOpen ? await runStep(choice, now) : finished
    if (end !== undefined && end.outcome !== 'finished') return end
    if (end === undefined) continue
    const hookObjection = await hooks.objectionToStop(hookObjections, turn.signal)
    if (hookObjection !== undefined) hookObjections++
    const objection = hookObjection ?? (steps.areLeft ? critic.objection() : undefined)
    if (objection === undefined) return end
    correct(turn, objection)
  }
  return { outcome: 'failed', served: true, code: 'MaxIterationsReached', detail: steps.refusal }
}

async function withToolsNow(options: StepOptions): Promise<StepOptions> {
  return { ...options, tools: await options.toolsNow(options.ending) }
}

function assertGoesOn({ signal, pausing }: Turn): void {
  signal.throwIfAborted()
  pausing.throwIfAborted()
}

async function runApproved(options: StepOptions): Promise<void> {
  const { turn, view } = options
  const calls = view.openActions(turn.approved).flatMap((event) => recordedCallOf(event, options))
  if (calls.length > 0) await execute(calls, options, true)
}

/**
 * Returns an approved action with its original arguments, as a list. When the action cannot be executed, records an
 * error for the model and returns an empty list.
 */
function recordedCallOf(
  { id, tool_call_id, tool_name, action: recorded }: ActionEvent, { tools, turn, view, cipher }: LoopOptions,
): RecordedCall[] {
  const tool = tools.find(({ name }) => name === tool_name)
  const action = recorded === null ? undefined : originalOf(id, recorded, view.keptCall(id), cipher)
  if (tool !== undefined && recorded !== null && action !== undefined) {
    return [{ actionId: id, callId: tool_call_id, tool, action, recorded }]
  }
  const error = tool === undefined
    ? `The tool ${tool_name} is not available any more. The action was not executed.`
    : 'The action was not executed: the history has it with secrets masked, and its original cannot be decrypted any ' +
      'more. Call the tool again.'
  turn.record({ kind: 'AgentErrorEvent', source: 'agent', tool_name, tool_call_id, error })
  return []
}

function overBudget(host: AgentHost): StepEnd {
  const { budgetSpent } = host.rules()
  return budgetSpent === undefined
    ? undefined
    : { outcome: 'failed', served: true, code: 'MaxBudgetReached', detail: `No step was begun: ${budgetSpent}` }
}

/**
 * If `stuckDetection` is on, judges the events of `view.newest` after `before`, or all of them if `before` is missing.
 * Ends the turn as `stuck` when the agent repeats itself. Records a message to the model after repeated failures.
 */
function judge({ host, view, turn }: LoopOptions, before: Event | undefined): StepEnd {
  if (!host.rules().stuckDetection) return undefined
  const progress = judgeProgress(view.newest.slice(view.newest.findIndex(({ id }) => id === before?.id) + 1))
  if (progress === 'stuck') return { outcome: 'stuck', served: true }
  if (progress === 'nudge') {
    correct(turn, 'The last three actions have failed. Do not repeat them: find the cause, or try another way.')
  }
  return undefined
}

/**
 * Ends the turn with a message to the user when the newest event is a user message with an image and the model accepts
 * no images.
 */
function refuseImages({ client: model }: ModelChoice, { view, turn }: LoopOptions): StepEnd {
  const asked = view.lastUserMessage
  const isNew = asked !== undefined && view.newest.at(-1)?.id === asked.id
  if (!isNew || model.takesImages !== false || !asked.llm_message.content.some((part) => part.type === 'image')) {
    return undefined
  }
  turn.served(asked.id)
  say(turn, `The model ${model.model} does not support images. Send text, or choose a model that takes images.`)
  return finished
}

async function runStep(choice: ModelChoice, options: StepOptions): Promise<StepEnd> {
  const { turn, view, history, host } = options
  // Read the history again, because `judge` may have recorded a message to the model.
  view.add(await history.next())
  await options.condenser?.relieve(condensingWork(options))
  // A summary may have spent the rest of the budget.
  const refusal = overBudget(host)
  if (refusal !== undefined) return refusal
  const asked = view.lastUserMessage
  const partial = splitByMessages({ host, turn, asked: asked?.id, isShown: choice.llm.stream })
  const answer = await callModel(choice, partial, options)
  if (answer instanceof ModelError) return recover(answer, options)
  options.condenser?.answered(answer.usage)
  if (asked !== undefined) turn.served(asked.id)
  const recordReports = await report(answer, choice, options)
  const judging = options.critic.judge(answer, () => view.messages({ withImages: false }))
  // The answer has no event yet: if a stop ends the critic's call, `keepingText` records the answer's text.
  const critique = await keepingText(judging, partial, { host, turn, asked: asked?.id })
  const isSwitched = options.llm() !== choice.llm
  // After a switch of the model, drop the answer's state and signatures, because the new model may refuse them.
  if (answer.state !== undefined && !isSwitched) turn.keepResponse(answer.id, answer.state)
  const message = isSwitched ? unsigned(answer.message) : answer.message
  const calls = withOwnIds(message.tool_calls ?? [], (id) => view.hasId(id), randomUUID)
  if (answer.stop === 'refusal' && (calls.length > 0 || !hasText(message))) {
    recordReports()
    return correctRefusal(brokenOff(choice.client.model), options)
  }
  const judged = { answer, partial, recordReports, critique }
  if (calls.length > 0) return act(judged, { ...message, tool_calls: calls }, options)
  turn.record({
    kind: 'MessageEvent', source: 'agent', llm_message: partial.rest(await maskMessage(message, maskingWays(host))),
    llm_response_id: answer.id, ...critique(),
  })
  recordReports()
  return conclude(message, turn)
}

function condensingWork({ turn, ending: signal }: StepOptions): CondensingWork {
  return { signal, record: (draft) => void turn.record(draft), usage: (report) => turn.usage(report) }
}

/** Returns the model's answer, or a ModelError with a code of `refusals`. Other errors are thrown. */
async function callModel(
  { llm, client: model }: ModelChoice, partial: SplitAnswer, { turn, view, tools, host, ending }: StepOptions,
): Promise<ModelAnswer | ModelError> {
  const request = {
    messages: view.messages({ withImages: model.takesImages !== false }),
    tools: tools.map(modelTool),
    signal: ending,
    cacheKey: host.conversationId,
    partial,
  }
  try {
    const answer = await model.complete(llm.stream ? { ...request, onDelta: (piece) => turn.delta(piece) } : request)
    // Some servers give every answer the same id, so a repeated id is replaced.
    return view.hasId(answer.id) ? { ...answer, id: randomUUID() } : answer
  } catch (thrown) {
    if (thrown instanceof ModelError && refusals.includes(thrown.code)) return thrown
    await recordCut(partial, { host, turn, asked: view.lastUserMessage?.id })
    throw thrown
  }
}

const refusals: readonly ModelErrorCode[] = ['LLMContentPolicyViolationError', 'LLMContextWindowExceedError']

/**
 * After the provider refused a request, tells the model of the refusal, or condenses a history that is too long.
 * @throws ModelError when the turn cannot go on; the signal's reason
 */
async function recover(refusal: ModelError, options: StepOptions): Promise<StepEnd> {
  if (refusal.code === 'LLMContentPolicyViolationError') return correctRefusal(refusal, options)
  if (options.condenser === undefined) throw refusal
  await options.condenser.overflowed(refusal, condensingWork(options))
  return undefined
}

/** Tells the model that its provider refused. @throws `refusal` if the newest event is a message from the server */
function correctRefusal(refusal: ModelError, { view, turn }: LoopOptions): StepEnd {
  const last = view.newest.at(-1)
  if (last?.kind === 'MessageEvent' && last.source === 'environment') throw refusal
  correct(
    turn, 'The model provider refused the last request because of its content policy. Go on without what it refused.',
  )
  return undefined
}

function hasText({ content }: Message): boolean {
  return content.some((part) => part.type === 'text' && part.text.trim() !== '')
}

interface Judged {
  readonly answer: ModelAnswer
  readonly partial: SplitAnswer
  readonly critique: Critique
  /** Records the token ids and the completion log. Called after the answer's own events are recorded. */
  readonly recordReports: () => void
}

/** Records the tool calls of an answer. Then executes them, or ends the turn if they need approval. */
async function act(
  { answer: { id: responseId, stop }, partial, ...kept }: Judged, message: Message, options: StepOptions,
): Promise<StepEnd> {
  const { host, tools } = options
  const { mask } = host
  const { analyzer } = host.rules()
  const hasAnalyzer = analyzer !== null
  const said = [textIn(message.content), message.reasoning_content ?? '']
  const prepared = await analyzed(analyzer, said, prepareCalls(message.tool_calls ?? [], {
    tools,
    usesDeclaredRisk: usesDeclaredRisk(analyzer),
    mask,
    isCut: stop === 'length',
  }))
  const batch = prepared.filter((call) => call.ok)
  const judged = await Promise.all(
    batch.map(async ({ action, risk, tool }) => ({ action, risk, asks: (await tool.asks?.(action)) === true })),
  )
  const waits = needsConfirmation(judged, { policy: host.policy(), hasAnalyzer })
  const masked = await maskMessage(message, maskingWays(host))
  const origin = { responseId, critique: kept.critique, message: partial.rest(masked), waits }
  const calls = await recordCalls(prepared, origin, options)
  kept.recordReports()
  if (waits) return { outcome: 'waiting', served: true }
  const done = await execute(calls, options, false)
  return done.some(({ action }) => action.kind === 'FinishAction') ? finished : undefined
}

/** Executes recorded actions. Returns the actions that no hook refused. */
async function execute(
  calls: readonly RecordedCall[], options: StepOptions, isApproved: boolean,
): Promise<readonly RecordedCall[]> {
  const { host, history, turn, view, concurrencyLimit, hooks, log, steps } = options
  // No tool may start before its action is durable in the log. `next()` waits until it is (decisions 6).
  view.add(await history.next())
  const { mask } = host
  return executeAll(calls, {
    turn, concurrencyLimit, isApproved, mask, hooks, log, takeStep: () => steps.take(),
    maskObservation: (observation) => maskObservation(observation, maskingWays(host)),
  })
}

/** Ends the turn after an answer with text. Otherwise records a message that tells the model to go on or finish. */
function conclude(message: Message, turn: Turn): StepEnd {
  if (hasText(message)) return finished
  correct(
    turn,
    'Your last answer had neither text nor a tool call. Call a tool to go on, or finish with a message to the user.',
  )
  return undefined
}

function say(turn: Turn, text: string): void {
  turn.record({ kind: 'MessageEvent', source: 'agent', llm_message: { role: 'assistant', content: text } })
}

function correct(turn: Turn, text: string): void {
  turn.record(environmentMessage(text))
}
