/** `pinnace/ports`: what a platform implements, and the types of its calls. */

export type { PinnaceErrorOptions } from '../base/errors.ts';
export type { Key } from '../base/key.ts';
export type { PrivateOrigins } from '../base/origins.ts';
export { requireDestination, type UnboundSecrets } from '../base/origins.ts';
export { Secret, type SecretOptions, type SecretOrigins } from '../base/secret.ts';
export type { AnyLanguageModel, ChatTransport, LanguageModel, UIMessage, UIMessageChunk } from './ai-types.ts';
export type { Authenticator } from './authenticator.ts';
export type { Authorization, Authorize } from './authenticator.ts';
export type { BlobScope, BlobStore, StoredBlob } from './blob-store.ts';
export type { Catalog, McpServerWriter } from './catalog.ts';
export type { ContextMessage, ContextState, ContextStrategy } from './context-strategy.ts';
export type { Egress, EgressOptions } from './egress.ts';
export type { Embedder } from './grounding-source.ts';
export type { EventSink, EventStatus, ObservedEvent } from './event-sink.ts';
export type {
  ForgetRequest,
  GroundingAggregate,
  GroundingCapabilities,
  GroundingItem,
  GroundingKind,
  GroundingOrigin,
  GroundingRequest,
  GroundingSource,
  GroundingStats,
  RememberRequest,
  SourceHit,
  TenantedSource,
  WritableGroundingSource,
} from './grounding-source.ts';
export type {
  McpCall,
  McpCallResult,
  McpConnection,
  McpConnector,
  McpContentKind,
  McpContentList,
  McpLogMessage,
  McpReading,
} from './mcp/mcp-connector.ts';
export type { ModelSource } from './model-source.ts';
export type { Sandbox, SandboxOptions } from './sandbox.ts';
export type { SecretScope, SecretSource, SecretText } from './egress.ts';
export type { Change, ClosableStorage, CommitResult, Entry, Storage, Watchable } from './storage.ts';
