/**
 * Confirmation policies, security analyzers and critics (contract/conversations.md, section 3; contract/settings.md,
 * section 3.1). An analyzer judges the risk of an action. A critic rates the work of the agent.
 */
import {
  address, arrayOf, boolean, constant, defaultTo, integerOf, kinds, numberOf, oneOf, orNull, ref, required, secret,
  string, tolerant, union, type Definitions,
} from './define.ts'
import { knownRisks } from './values.ts'

const policies = kinds({
  NeverConfirm: tolerant('No action needs approval.', {}),
  AlwaysConfirm: tolerant('Every action needs approval.', {}),
  ConfirmRisky: tolerant('Actions whose risk reaches `threshold` need approval.', {
    threshold: defaultTo('HIGH', oneOf(...knownRisks)),
    confirm_unknown: defaultTo(true, boolean),
  }),
})

const plainAnalyzers = kinds({
  LLMSecurityAnalyzer: tolerant('Uses the risk that the model declared.', {}),
  PatternSecurityAnalyzer: tolerant('Searches the action for words on a list of this server.', {}),
  PolicyRailSecurityAnalyzer: tolerant('Finds three dangerous combinations in an action.', {}),
})
const analyzers = kinds({
  EnsembleSecurityAnalyzer: tolerant('Uses the highest risk that its analyzers find.', {
    analyzers: required(arrayOf(ref('PlainSecurityAnalyzer'), { minItems: 1, maxItems: 10 })),
    propagate_unknown: defaultTo(false, boolean, 'True if one unknown risk makes the result unknown.'),
  }),
})

const judging = {
  mode: defaultTo('finish_and_message', oneOf('finish_and_message', 'all_actions')),
  iterative_refinement: orNull(ref('IterativeRefinement'), 'Null: the agent is not asked to improve its work.'),
}

export const judgement: Definitions = {
  ...policies,
  ConfirmationPolicy: union('Decides which actions need approval.', 'kind', Object.keys(policies)),
  ...plainAnalyzers,
  PlainSecurityAnalyzer: union('One of the analyzers of an ensemble.', 'kind', Object.keys(plainAnalyzers)),
  ...analyzers,
  SecurityAnalyzer: union('Judges the risk of an action.', 'kind',
    [...Object.keys(plainAnalyzers), ...Object.keys(analyzers)]),
  ...kinds({
    AgentFinishedCritic: tolerant('Scores 1 when the agent calls `finish` and has changed a file, else 0.', judging),
    EmptyPatchCritic: tolerant('Scores 1 when the agent has changed a file, else 0.', judging),
    PassCritic: tolerant('Scores 1.', judging),
  }),
  Critic: union('Rates the work of the agent before the agent ends.', 'kind',
    ['APIBasedCritic', 'AgentFinishedCritic', 'EmptyPatchCritic', 'PassCritic'], [{ variant: 'APIBasedCritic' }]),
  APIBasedCritic: tolerant('A model that rates the work of the agent.', {
    kind: defaultTo('APIBasedCritic', constant('APIBasedCritic')),
    ...judging,
    server_url: address(orNull(string, 'The base URL of a model. Null: the base URL of the agent\'s model.')),
    model_name: orNull(string, '`provider/model`. Null: the model of the agent.'),
    api_key: secret(orNull(string)),
  }),
  IterativeRefinement: tolerant('When the agent must improve its work, and how often.', {
    success_threshold: defaultTo(0.6, numberOf({ minimum: 0, maximum: 1 }), 'A lower score asks for improvement.'),
    max_iterations: defaultTo(3, integerOf({ minimum: 1 })),
  }),
}
