#!/usr/bin/env node
/**
 * `agent-server-demo-agent`: the demonstration agent as a program that speaks ACP on standard input and output.
 *
 * It takes no arguments. When its input ends, it ends its running commands and itself.
 */
import { LineFraming } from '../../rpc/lines.ts'
import { createDemoAgent } from './agent.ts'
import { runCommand } from './command.ts'

createDemoAgent({
  framing: new LineFraming({ input: process.stdin, output: process.stdout }),
  version: '0.1.0',
  runCommand,
  idPrefix: `demo-${Date.now().toString(36)}-${process.pid}`,
  paceMs: 10,
  onClosed: () => process.stdin.destroy(),
})
