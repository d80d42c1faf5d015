/**
 * The confirmation policies, the security analyzers, which find the risk of an action, and the critics, which rate the
 * work of the agent (contract/conversations.md, section 3; contract/settings.md, 3.1).
 */
import {
  address, arrayOf, boolean, constant, defaultTo, integerOf, kinds, numberOf, oneOf, orNull, ref, required, secret,
  string, tolerant, union, type Definitions,
} from './define.ts'
import { knownRisks } from './values.ts'

const policies = kinds({
  NeverConfirm: tolerant('No action needs approval.', {}),
  AlwaysConfirm: tolerant('Every action needs approval.', {}),
  ConfirmRisky: tolerant('Actions of a risk need approval.', {
    threshold: defaultTo('HIGH', oneOf(...knownRisks)),
    confirm_unknown: defaultTo(true, boolean),
  }),
})

const plainAnalyzers = kinds({
  LLMSecurityAnalyzer: tolerant('Takes the risk that the model declared.', {}),
  PatternSecurityAnalyzer: tolerant('Judges by the words of the action; the words are those of this server.', {}),
  PolicyRailSecurityAnalyzer: tolerant('Finds three dangerous combinations in an action.', {}),
})
const analyzers = kinds({
  EnsembleSecurityAnalyzer: tolerant('Takes the highest risk that one of several analyzers knows.', {
    analyzers: required(arrayOf(ref('PlainSecurityAnalyzer'), { minItems: 1, maxItems: 10 })),
    propagate_unknown: defaultTo(false, boolean, 'Whether one unknown risk makes the whole unknown.'),
  }),
})

const judging = {
  mode: defaultTo('finish_and_message', oneOf('finish_and_message', 'all_actions')),
  iterative_refinement: orNull(ref('IterativeRefinement'), 'Null: the agent is not sent on.'),
}

export const judgement: Definitions = {
  ...policies,
  ConfirmationPolicy: union('Which actions need approval.', 'kind', Object.keys(policies)),
  ...plainAnalyzers,
  PlainSecurityAnalyzer: union('One of the analyzers of an ensemble.', 'kind', Object.keys(plainAnalyzers)),
  ...analyzers,
  SecurityAnalyzer: union('How the risk of an action is judged.', 'kind',
    [...Object.keys(plainAnalyzers), ...Object.keys(analyzers)]),
  ...kinds({
    AgentFinishedCritic: tolerant('Scores 1 when the agent calls `finish` and has changed a file, else 0.', judging),
    EmptyPatchCritic: tolerant('Scores 1 when the agent has changed a file, else 0.', judging),
    PassCritic: tolerant('Scores 1.', judging),
  }),
  Critic: union('What judges the agent before it ends.', 'kind',
    ['APIBasedCritic', 'AgentFinishedCritic', 'EmptyPatchCritic', 'PassCritic'], [{ variant: 'APIBasedCritic' }]),
  APIBasedCritic: tolerant('A model that judges what the agent is about to say.', {
    kind: defaultTo('APIBasedCritic', constant('APIBasedCritic')),
    ...judging,
    server_url: address(orNull(string, 'The base URL of a model. Null: that of the agent.')),
    model_name: orNull(string, '`provider/model`. Null: the model of the agent.'),
    api_key: secret(orNull(string)),
  }),
  IterativeRefinement: tolerant('When the agent is sent on, and how often.', {
    success_threshold: defaultTo(0.6, numberOf({ minimum: 0, maximum: 1 }), 'A score below sends it on.'),
    max_iterations: defaultTo(3, integerOf({ minimum: 1 })),
  }),
}
