/** The deliberate differences of conversations with the built-in agent; see differences.ts. */
import { why, type Deliberate } from './verdict.ts'

export const inTalks: readonly Deliberate[] = [
  why('*Event *', '- $.extended_content', 'Empty lists of an observation are left out'),
  why('*Event *', '- $.classification', 'Events have the fields of the specification (decisions 1)'),
  why('*ActionEvent *', 'length $.thought 1 | 0', 'A call without words has no thought, not an empty one'),
  why('*ActionEvent *', 'value $.tool_call.arguments *', 'The arguments as the model wrote them'),
  why('*ActionEvent *', 'value $.summary *', 'The same'),
  why('*ObservationEvent *', 'value $.observation.content[*', 'The texts of tools are this server\'s own'),
  why('*ObservationEvent *', '? $.observation.path', 'The path stands there also when reading it failed'),
  why('Run a command. ObservationEvent 1', '* $.observation.metadata.*', 'Facts of this server\'s shell'),
  why('Run a command. ObservationEvent 1', '- $.observation.full_output_save_dir', 'Whole outputs are in events'),
  why('*AgentErrorEvent *', 'value $.error *', 'Words for the model'),
  why('*full_state', '- $.activated_path_rules', 'There are no rules by path'),
  why('*full_state', '+ $.pending_confirmations', 'Open questions of the agent'),
  why('*at the end', '+ $.agent_state.usage', 'What each model has used'),
  why('Fail. at the end', '- $.stats.usage_to_metrics.default', 'A model has figures once it has answered'),
  why('Fail. ConversationErrorEvent 1', 'value $.*', 'A refused key is an error of authentication'),
  why('*frames', '- $.StreamingDeltaEvent', 'A chunk without text is no delta'),
  why('*delta', 'type $ object | null', 'The same'),
  why('Call wrongly.*', '*', 'Three errors in a row get a hint, which the stand-in takes for a new message'),
]
