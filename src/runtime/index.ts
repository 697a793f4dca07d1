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
} from './code-agent.ts';
export { type AgentOptions, defineAgent } from './code-agent.ts';
export type { StoredFile, StoredFileCall, StoredFiles } from './message-files.ts';
export type { HookRequest, Schedule, ScheduleFire, ScheduleInput, Schedules, ScheduleWhen } from './schedule.ts';
export type {
  ChatChange,
  ChatExportOptions,
  ChatImport,
  ChatOwner,
  Chats,
  ChatSummary,
  DeletedChat,
  ExportedChat,
  ImportedChat,
  StoredChat,
} from './chat-record.ts';
export type { RunCursor } from './stored-run.ts';
export type { RunStatus } from './run-record.ts';
export type { Runs } from './runs.ts';
export type { NumberedSource } from './message-parts.ts';
export { parsePartialJson } from './read-output.ts';
export { type Partially, readOutput, type ReadOutputOptions } from './read-output.ts';
export type { AgentTools } from './agent-tools.ts';
export { defaultLimits, type Limits } from './limits.ts';
export type { RunRequestInput } from './run-request.ts';
export type { HostedRuntime, Manifest, Runtime, Started, StartOptions } from './runtime.ts';
export type { SentMessage } from './steering.ts';
export type { SteeringMessageInput } from './steering.ts';
export type {
  Inbox,
  InboxChange,
  InboxDecision,
  InboxDetail,
  InboxItem,
  InboxPage,
  InboxQuery,
  InboxResult,
  InboxWatch,
} from './inbox.ts';
