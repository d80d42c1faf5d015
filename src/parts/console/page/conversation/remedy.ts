/** Draws an error of a conversation, with advice for the user (contract/events.md, section 2.4). */
import { element, type Child } from '../dom.ts'
import { textAt } from '../values.ts'
import { button } from './controls.ts'
import { textNodes } from './text-nodes.ts'
import type { Item } from './timeline.ts'

export interface Remedies {
  readonly navigate: (path: string) => void
  readonly run: () => void
  readonly condense: () => void
}

interface Remedy {
  readonly codes: RegExp
  readonly words: string
  /** Makes a button with which the person follows the advice. Without `act`, only the button `Try again` is shown. */
  readonly act?: (remedies: Remedies) => HTMLElement
}

const toSettings = ({ navigate }: Remedies): HTMLElement => button('', 'Open the settings', () => navigate('/settings'))
const toAgents = ({ navigate }: Remedies): HTMLElement => button('', 'Check the agent', () => navigate('/welcome'))

const remedies: readonly Remedy[] = [
  { codes: /Authentication|AuthRequired/, words: 'Check the key or the sign-in, then try again.', act: toSettings },
  { codes: /RateLimit/, words: 'The limit of the model is reached. Wait a little, then try again.' },
  { codes: /ServiceUnavailable|Timeout(?:Error)?$/, words: 'The model or the agent did not answer. Try again.' },
  { codes: /ContextWindow/, words: 'The conversation is too long for the model. Shorten its history, then try again.',
    act: ({ condense }) => button('', 'Shorten the history', condense) },
  { codes: /BadRequest/, words: 'The model refuses the request. Check its name and its settings.', act: toSettings },
  { codes: /ACPSpawn|ACPStartup|ACPInit/, words: 'The program of the agent does not start.', act: toAgents },
  { codes: /MaxIterationsReached/, words: 'Another run begins a new count of steps.' },
  { codes: /ServerRestarted/, words: 'The run ended with the server. Nothing that is shown was lost.' },
  { codes: /Storage/, words: 'Free some space on the disk of the server, then try again.' },
  { codes: /UsagePolicy/, words: 'Say it in other words: go back to your message and edit it.' },
]

/** Draws an error with its code, advice and buttons. Without an error item, gives no code and no advice. */
export function errorView(item: Item | undefined, actions: Remedies): Child {
  const again = button('', 'Try again', actions.run)
  if (item?.type !== 'error') return ['The last run failed. ', again]
  const remedy = remedies.find(({ codes }) => codes.test(textAt(item.event.body, 'code')))
  return [
    element('strong', {}, textNodes(item.code)), ': ', textNodes(item.detail.slice(0, 500)), ' ',
    element('span', { class: 'remedy' }, remedy?.words ?? '', ' ', remedy?.act?.(actions), ' ', again),
  ]
}
