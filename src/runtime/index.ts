/** `pinnace/runtime`: the types of a runtime, its runs and its operations. */

export type { Labels, Metrics, MetricsObserver } from '../base/metrics.ts';
export type { Page, PageOptions } from '../base/page.ts';
export { createPrincipal, localPrincipal, type Principal, type Scope, type Session } from '../base/principal.ts';
export type {
  AgentCode,
  CodeAgent,
  FinishedCall,
  FinishedStep,
  Instructions,
  InstructionsRequest,
  StopCondition,
} from './code-agents/agent-code.ts';
export { type AgentOptions, defineAgent } from './code-agents/define-agent.ts';
export type { StoredFile, StoredFileCall, StoredFiles } from './attachments/stored-file.ts';
export type { ChatChange, ChatOwner, Chats, ChatSummary, DeletedChat, StoredChat } from './chats/chat.ts';
export type { RunCursor } from './log/run-cursor.ts';
export type { RunStatus } from './log/run-status.ts';
export type { Runs } from './log/runs.ts';
export type { NumberedSource } from './messages/citations.ts';
export { parsePartialJson } from './output/json-text.ts';
export { type Partially, readOutput, type ReadOutputOptions } from './output/read-output.ts';
export type { AgentTools } from './resolve/agent-tools.ts';
export { defaultLimits, type Limits } from './resolve/limits.ts';
export type { RunRequestInput } from './run-request.ts';
export type { HostedRuntime, Manifest, Runtime, Started, StartOptions } from './runtime.ts';
export type { SentMessage } from './steering/inbox.ts';
export type { SteeringMessageInput } from './steering/message.ts';
