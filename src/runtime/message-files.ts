/** The files of messages: their types, addresses and media types. */

import type { ModelMessage, UIMessage, UIMessageChunk } from '../contracts/ai-types.ts';
import type { Limits } from './limits.ts';
import type { LanguageModelV4ToolResultOutput } from '@ai-sdk/provider';
import type { BlobStore, StoredBlob } from '../contracts/blob-store.ts';
import type { Principal } from '../base/principal.ts';
import type { Agent } from '../base/schema.ts';
import type { McpResource } from '../contracts/mcp/content.ts';
import type { RunScope } from '../tools/run-scope.ts';
import type { RunRedaction } from '../permission/redaction/run-redaction.ts';
import type { Egress } from '../contracts/egress.ts';
import type { SpanContext } from '../contracts/event-sink.ts';
import type { ToolOutcome } from '../tools/tool.ts';
import type { Budgets } from './budgets.ts';
import { PinnaceError } from '../base/errors.ts';
import type { CallerTrace } from '../events/span.ts';

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
interface ResourceRun {
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
  /** Whether the inline files of that message were paid for: its stored chat has them. */
  readonly isPaid?: boolean | undefined;
  readonly push?: ((chunk: UIMessageChunk) => void) | undefined;
}

/** A file that was stored. */
export interface StoredFile {
  readonly id: string;
  /** The `url` of a message's file part. */
  readonly url: string;
  /** By its content. */
  readonly mediaType: string;
  /** In bytes. */
  readonly size: number;
}

/** The circumstances of a call. */
export interface StoredFileCall {
  readonly signal?: AbortSignal | undefined;
  readonly trace?: CallerTrace;
}

/** The circumstances of a call about a file that exists. */
export interface OwnedFileCall extends StoredFileCall {
  /** Another subject of the tenant, whose file it is; needs the scope `admin`. */
  readonly subject?: string | undefined;
}

/** The stored files of a person. A file belongs to the subject that has stored it: for all others it does not exist. */
export interface StoredFiles {
  /**
   * Stores a file for messages to refer to. The same content is stored once.
   *
   * @throws PinnaceError `invalid_argument` (`attachment_too_large`, `attachment_type`), `forbidden` without the scope `run:create`.
   */
  put(
    bytes: Uint8Array<ArrayBuffer>,
    mediaType: string,
    principal: Principal,
    call?: StoredFileCall,
  ): Promise<StoredFile>;
  /**
   * Reads a file. An administrator that names its subject asks the permission hook for `blob.read`, and is audited.
   *
   * @throws PinnaceError `not_found` (`attachment_missing`), `forbidden` without the scope `run:read`.
   */
  get(id: string, principal: Principal, call?: OwnedFileCall): Promise<StoredBlob>;
  /**
   * Deletes a file, guarded as the action `attachment.delete`; messages that refer to it go on without it. Does
   * nothing for an unknown id.
   *
   * @throws PinnaceError `forbidden` without the scope `admin`, and as `guard` does.
   */
  delete(id: string, principal: Principal, call?: OwnedFileCall): Promise<void>;
}

/** Stands before the id of a stored file. */
const scheme = 'pinnace-blob:';

/** The address of a stored file in messages. */
export function blobUrl(id: string): string {
  return `${scheme}${id}`;
}

/** The id in such an address; `undefined` for any other text. */
export function blobIdOf(url: string): string | undefined {
  const id = url.startsWith(scheme) ? url.slice(scheme.length) : '';
  return /^[\w.-]{1,128}$/.test(id) ? id : undefined;
}

/**
 * The server and the URI in the address of a resource in messages, `pinnace-mcp:<id of the server's record>/<encoded URI>`; `undefined`
 * for any other text.
 */
export function resourceOf(url: string): { readonly server: string; readonly uri: string } | undefined {
  const match = /^pinnace-mcp:([\w.-]{1,128})\/([^/?#]{1,6144})$/.exec(url);
  if (!match) return undefined;
  try {
    return { server: match[1] ?? '', uri: decodeURIComponent(match[2] ?? '') };
  } catch {
    return undefined;
  }
}

/** The declared type and the base64 of a data URL; `undefined` for any other text. */
export function readDataUrl(url: string): { readonly mediaType: string; readonly base64: string } | undefined {
  if (!/^data:/i.test(url)) return undefined;
  const comma = url.indexOf(',');
  const head = /^data:([^;,]*)(?:;[^,]*)?;base64$/i.exec(url.slice(0, Math.max(comma, 0)));
  return head ? { mediaType: head[1] ?? '', base64: url.slice(comma + 1) } : undefined;
}

/** @throws PinnaceError `invalid_argument` with the reason `attachment_too_large`. */
export function requireLength(size: number, most: number, what = 'a file'): void {
  if (size <= most) return;
  throw new PinnaceError('invalid_argument', `Cannot read ${what}: it has ${size} bytes, ${most} are allowed`, {
    status: 413,
    details: { reason: 'attachment_too_large', size, maxBytes: most },
  });
}
