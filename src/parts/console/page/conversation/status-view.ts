/**
 * The status line of a conversation, with the menus for model, mode and policy. A box at the top of the page shows
 * problems.
 */
import { element, fill, type Child } from '../dom.ts'
import type { ConversationActions } from './actions.ts'
import { button, soft } from './controls.ts'
import { describeCall } from './call-pieces.ts'
import {
  agentNameOf, isExternal, modelOf, modelsOf, modeOf, modesOf, policyOf, statusOfState, usageOf, waitsForPlace,
  type Choice, type ConversationState,
} from './conversation-state.ts'
import type { LiveHistory } from './live-history.ts'
import { errorView, type Remedies } from './remedy.ts'
import { textNodes } from './text-nodes.ts'
import { policyName } from './timeline.ts'
import { countText, dateOf, moneyText, secondsText } from './words.ts'

export interface StatusOptions {
  readonly history: LiveHistory
  readonly actions: ConversationActions
  /** Returns the conversation's place in the queue for an agent, such as `2nd of 5`; undefined when it is unknown. */
  readonly place: () => string | undefined
  readonly navigate: (path: string) => void
}

const policies: readonly Choice[] = ['NeverConfirm', 'ConfirmRisky', 'AlwaysConfirm'].map((id) => {
  return { id, name: policyName(id) }
})

/** The shown name of each menu, and its name for screen readers. */
const menuNames = {
  model: ['Model', 'Model'],
  mode: ['Mode', 'Mode of the agent'],
  policy: ['Confirmation', 'Confirmation: when the agent asks'],
} as const

/** The time for which a reconnection is shown, in milliseconds. */
const toldMs = 10_000

export class StatusView {
  readonly root: HTMLElement
  /** The box with problems, notes and remedies; hidden while there are none. */
  readonly problem = element('div', { class: 'trouble', role: 'alert', hidden: true })
  readonly #options: StatusOptions
  readonly #words = element('span', { class: 'status-words' })
  readonly #connection = element('span', { class: 'connection' })
  readonly #figures = element('span', { class: 'figures' })
  readonly #menus = element('span', { class: 'menus' })
  readonly #clock: number
  #profiles: readonly Choice[] = []
  #shownMenus = ''
  #shownProblem = ''

  constructor(options: StatusOptions) {
    this.#options = options
    this.root = element('div', { class: 'run-status' }, this.#words, this.#connection, this.#menus, this.#figures)
    this.#clock = setInterval(() => this.#tick(), 1000)
    void this.#readProfiles()
  }

  show(): void {
    const { state } = this.#options.history
    this.root.dataset['status'] = waitsForPlace(state) ? 'queued' : statusOfState(state)
    this.#tick()
    this.#showMenus(state)
    this.#showFigures(state)
    this.#showProblem(state)
  }

  close(): void {
    clearInterval(this.#clock)
  }

  #tick(): void {
    const { history, place } = this.#options
    fill(this.#words, statusWords(history.state, history, place()))
    fill(this.#connection, this.#connectionWords())
  }

  #connectionWords(): Child {
    const { history } = this.#options
    const { connection, caughtUp, reconnectedAt } = history
    if (history.isCut) return element('span', { class: 'warn' }, 'Not current')
    switch (connection.name) {
      case 'open':
        if (Date.now() - reconnectedAt > toldMs) return undefined
        return element('span', { class: 'soft', role: 'status' },
          `Connected again${caughtUp > 1 ? `, ${caughtUp} events came meanwhile` : ''}`)
      case 'waiting':
      case 'connecting': return element('span', { class: 'soft' }, 'Connecting …')
      case 'ended': return element('span', { class: 'warn', role: 'status' }, connection.reason)
    }
  }

  #showMenus(state: ConversationState): void {
    const { actions } = this.#options
    const parts = [
      modelOf(state), modelsOf(state), modeOf(state), modesOf(state), policyOf(state), agentNameOf(state),
      this.#profiles, statusOfState(state) === '',
    ]
    const signature = JSON.stringify(parts)
    if (signature === this.#shownMenus) return
    this.#shownMenus = signature
    // Before the first state arrives, the agent is unknown.
    if (statusOfState(state) === '') return fill(this.#menus)
    const [modes, policy] = [modesOf(state), policyOf(state)]
    // If a menu has the focus, the new menu of the same name gets the focus.
    const focused = document.activeElement
    const name = focused !== null && this.#menus.contains(focused) ? focused.getAttribute('aria-label') : null
    fill(this.#menus,
      element('span', { class: 'soft agent-name' }, textNodes(agentNameOf(state))),
      this.#modelMenu(state),
      modes.length === 0 ? undefined : menu(menuNames.mode, modes, modeOf(state), (id) => actions.setMode(id)),
      policy === '' ? undefined : menu(menuNames.policy, policies, policy, (id) => actions.setPolicy(id)))
    const again = [...this.#menus.querySelectorAll('select')].find((one) => one.getAttribute('aria-label') === name)
    if (name !== null) again?.focus()
  }

  /**
   * Returns a menu of the external agent's models or, for the built-in agent, of the LLM profiles. Without models or
   * profiles, returns an element with the model's name.
   */
  #modelMenu(state: ConversationState): HTMLElement {
    const { actions } = this.#options
    const model = modelOf(state)
    if (isExternal(state)) {
      if (modelsOf(state).length > 0) return menu(menuNames.model, modelsOf(state), model, (id) => actions.setModel(id))
    } else if (this.#profiles.length > 0) {
      const current = { id: '', name: model }
      return menu(menuNames.model, [current, ...this.#profiles], '', (id) => actions.useProfile(id))
    }
    return element('span', { class: 'soft', title: 'Model' }, textNodes(model))
  }

  async #readProfiles(): Promise<void> {
    this.#profiles = await this.#options.actions.profiles()
    this.#showMenus(this.#options.history.state)
  }

  #showFigures(state: ConversationState): void {
    const { cost, inputTokens, outputTokens, context, contextWindow } = usageOf(state)
    const share = contextWindow > 0 ? Math.min(1, context / contextWindow) : undefined
    const told = `${countText(context)} of ${countText(contextWindow)} tokens of the context are used`
    const tokens = `${countText(inputTokens)} in, ${countText(outputTokens)} out`
    fill(this.#figures,
      inputTokens + outputTokens > 0 ? element('span', { title: 'Tokens' }, tokens) : undefined,
      cost > 0 ? element('span', { title: 'Cost' }, moneyText(cost)) : undefined,
      share === undefined ? undefined : element('meter', {
        min: 0, max: 1, high: 0.8, value: share, title: told, 'aria-label': told,
      }))
  }

  /** Shows `problem` and `note` of the history, and help for the status `error` or `stuck`. */
  #showProblem(state: ConversationState): void {
    const { history, actions, navigate } = this.#options
    const status = statusOfState(state)
    const failed = status === 'error' ? history.timeline.items.findLast(({ type }) => type === 'error') : undefined
    const key = `${status} ${failed?.key ?? ''} ${history.problem ?? ''} ${history.note ?? ''}`
    if (key === this.#shownProblem) return
    this.#shownProblem = key
    const dismiss = (): void => {
      history.problem = undefined
      history.note = undefined
      this.#showProblem(history.state)
    }
    const isProblem = status === 'error' || status === 'stuck' || history.problem !== undefined
    const isShown = isProblem || history.note !== undefined
    this.problem.hidden = !isShown
    this.problem.classList.toggle('is-note', !isProblem)
    if (!isShown) return
    const run = (): void => void actions.run()
    const remedies: Remedies = { navigate, run, condense: () => void actions.condense() }
    fill(this.problem,
      [history.problem, history.note].map((words) => words === undefined ? undefined : element('p', {},
        textNodes(words), ' ', button('small', 'Dismiss', dismiss))),
      status === 'stuck'
        ? element('p', {}, 'The agent repeated itself. Tell it more, or ', button('', 'Try again', run))
        : undefined,
      status === 'error' ? element('p', {}, errorView(failed, remedies)) : undefined)
  }
}

function menu(
  [shown, label]: readonly [string, string], choices: readonly Choice[], current: string,
  choose: (id: string) => Promise<boolean>,
): HTMLElement {
  const known = choices.some(({ id }) => id === current) ? choices : [{ id: current, name: current }, ...choices]
  const select = element('select', { 'aria-label': label, title: label },
    known.map(({ id, name }) => element('option', { value: id, selected: id === current }, name)))
  select.addEventListener('change', () => {
    void choose(select.value).then((isDone) => {
      if (!isDone) select.value = current
    })
  })
  return element('label', {}, element('span', {}, shown), select)
}

function statusWords(state: ConversationState, history: LiveHistory, place: string | undefined): Child {
  const since = state.since === undefined ? undefined : Date.now() - dateOf(state.since).getTime()
  const time = since === undefined || since < 1000 ? '' : ` for ${secondsText(since)}`
  const dot = element('span', { class: 'dot', 'aria-hidden': 'true' })
  switch (statusOfState(state)) {
    case '': return undefined
    case 'running':
      if (waitsForPlace(state)) {
        return [dot, `Waits for a free agent${place === undefined ? '' : `: ${place}`}`, soft(time.trim())]
      }
      return [dot, `Working${time}`, element('span', { class: 'soft' }, ` ${waitingFor(history)}`)]
    case 'waiting_for_confirmation': return [dot, `Waiting for your answer${time}`]
    case 'paused': return [dot, `Paused${time}`]
    case 'finished': return [dot, 'Finished']
    case 'error': return [dot, 'Stopped by an error']
    case 'stuck': return [dot, 'Stuck']
    case 'idle': return [dot, 'Ready']
    default: return [dot, statusOfState(state)]
  }
}

/** Returns words for the work of a running agent: its open call, an answer, a thought, or the wait for the agent. */
function waitingFor({ timeline, draft }: LiveHistory): string {
  const item = timeline.items.findLast(({ type }) => type === 'calls' || type === 'message')
  const open = item?.type === 'calls' ? item.calls.find(({ result }) => result === undefined) : undefined
  if (open !== undefined) {
    const { verb, subject } = describeCall(open)
    return `on: ${verb} ${subject.split('\n', 1)[0]?.slice(0, 80) ?? ''}`
  }
  if (draft.content !== '') return 'on an answer'
  return draft.thought === '' ? 'and waiting for the agent' : 'on a thought'
}
