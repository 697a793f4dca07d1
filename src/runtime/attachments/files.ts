/** What files of runs are, and how they are reached. Types only. */

import type { LanguageModelV4ToolResultOutput } from '@ai-sdk/provider';
import type { UIMessage, UIMessageChunk } from '../../contracts/ai-types.ts';
import type { BlobStore } from '../../contracts/blob-store.ts';
import type { Principal } from '../../base/principal.ts';
import type { Agent } from '../../base/schema.ts';
import type { McpResource } from '../../contracts/mcp/content.ts';
import type { RunScope } from '../../tools/run-scope.ts';
import type { RunRedaction } from '../../permission/redaction/run-redaction.ts';
import type { Egress } from '../../contracts/egress.ts';
import type { SpanContext } from '../../contracts/span.ts';
import type { ToolOutcome } from '../../tools/tool.ts';
import type { ModelMessage } from '../messages/model-messages.ts';
import type { Budgets } from '../budgets/budgets.ts';
import type { Limits } from '../resolve/limits.ts';

/** The sources of files, and their owner. */
export interface FileAccess {
  readonly blobs: BlobStore;
  readonly egress: Egress | undefined;
  /** Whose files messages may refer to, and who owns what is stored. */
  readonly owner: Pick<Principal, 'tenant' | 'subject'>;
  /** Whose files the messages of a forked run refer to, where an administrator has forked the run of another. */
  readonly from?: string | undefined;
  readonly signal: AbortSignal;
  readonly limits: Pick<Limits, 'attachmentLength' | 'attachmentsLength'>;
  /** Reads a resource of an MCP server; absent where messages cannot refer to any. */
  readonly readResource?:
    | ((resource: { readonly server: string; readonly uri: string }) => Promise<McpResource>)
    | undefined;
}

/** The run that reads a resource of an MCP server. */
export interface ResourceRun {
  readonly agent: Agent;
  readonly principal: Principal;
  readonly redaction: RunRedaction;
  readonly signal: AbortSignal;
  /** Holds the connections of the run. */
  readonly scope: RunScope;
}

/** Reads a resource of an MCP server in the name of a run's caller. Rejects as `runtime.resources.read`. */
export type ReadInRun = (
  run: ResourceRun,
  resource: { readonly server: string; readonly uri: string },
) => Promise<McpResource>;

/** A file with its content. */
export interface LoadedFile {
  /** By its content. */
  readonly mediaType: string;
  readonly base64: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly from: 'inline' | 'url' | 'stored' | 'resource';
  /** Stands before the text of a resource: where it is from, and that it is untrusted. */
  readonly source?: string;
}

/** The address of a file in a message, and what the message calls its type. */
export interface FileAddress {
  readonly url: string;
  readonly mediaType: string;
}

/** The files of one run. */
export interface RunFiles {
  /** Returns the messages with their files inline. @throws PinnaceError for a file of the last message that cannot be used. */
  load(messages: readonly ModelMessage[]): Promise<readonly ModelMessage[]>;
  /** Returns the outcome of a call with long base64 stored and referred to. */
  settled(outcome: ToolOutcome): ToolOutcome | Promise<ToolOutcome>;
  /** Returns an output with its files, as the model receives it; `undefined` for an output without files. */
  result(output: unknown): Promise<LanguageModelV4ToolResultOutput> | undefined;
  /** Returns the chunks with long base64 stored and referred to. */
  shown(chunks: readonly UIMessageChunk[]): readonly UIMessageChunk[] | Promise<readonly UIMessageChunk[]>;
}

/** What the files of a run need. */
export interface RunFilesOptions extends FileAccess {
  /** Pays for what is stored, where written bytes are limited. */
  readonly budgets?: Budgets | undefined;
  /** The span that events of files are in. */
  readonly span: Pick<SpanContext, 'emit'>;
  /** The message that the run answers: its client receives the address of each stored file. */
  readonly answered?: UIMessage | undefined;
  readonly push?: ((chunk: UIMessageChunk) => void) | undefined;
}
