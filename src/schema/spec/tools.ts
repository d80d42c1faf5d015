/**
 * Tool definitions: the elements of `SystemPromptEvent.tools`.
 *
 * Sources: the specification's section "ToolDefinition" for the kinds of tools; contract/payloads.md, section 4, for
 * the rest. The kinds of `BuiltInTool` have the same members.
 */
import {
  boolean, constant, defaultTo, extensible, oneOf, openObject, optional, ref, required, string, tolerant, union,
  type Definitions, type Member, type Members,
} from './define.ts'

export const tools: Definitions = {
  ToolAnnotations: tolerant('Hints about the effects of a tool (Model Context Protocol, ToolAnnotations).', {
    title: optional(string),
    readOnlyHint: defaultTo(false, boolean),
    destructiveHint: defaultTo(true, boolean),
    idempotentHint: defaultTo(false, boolean),
    openWorldHint: defaultTo(true, boolean),
  }),

  McpTool: extensible('A tool as its MCP server describes it (Model Context Protocol, Tool).', {
    name: required(string),
    inputSchema: required(openObject),
  }),

  MCPToolDefinition: tolerant('A tool of an MCP server.', {
    ...definition(required(constant('MCPToolDefinition'))),
    mcp_tool: required(ref('McpTool')),
  }),

  BuiltInTool: tolerant('A tool of the built-in agent.', definition(required(oneOf(
    'FinishTool', 'ThinkTool',
    'BrowserClickTool', 'BrowserCloseTabTool', 'BrowserGetContentTool', 'BrowserGetStateTool', 'BrowserGetStorageTool',
    'BrowserGoBackTool', 'BrowserListTabsTool', 'BrowserNavigateTool', 'BrowserScrollTool', 'BrowserSetStorageTool',
    'BrowserStartRecordingTool', 'BrowserStopRecordingTool', 'BrowserSwitchTabTool', 'BrowserToolSet',
    'BrowserTypeTool',
    'FileEditorTool', 'EditTool', 'ListDirectoryTool', 'ReadFileTool', 'WriteFileTool', 'GlobTool', 'GrepTool',
    'PlanningFileEditorTool', 'TaskTrackerTool', 'TerminalTool',
  )))),

  ToolDefinition: union('A tool that the agent may call.', 'kind', ['MCPToolDefinition', 'BuiltInTool']),
}

function definition(kind: Member): Members {
  return {
    kind,
    description: required(string),
    action_type: required(string, 'The kind of the tool\'s actions.'),
    observation_type: optional(string, 'The kind of the tool\'s observations.'),
    annotations: optional(ref('ToolAnnotations')),
    meta: optional(openObject),
    title: optional(string, 'The title in the annotations, or the name of the tool.'),
  }
}
