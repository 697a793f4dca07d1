/** Every interface that a platform implements. Its rules are the sentences above it; the contract suites check them. */

import type { LanguageModel } from './ai-types.ts';
import type { ObservedEvent } from './events.ts';
import type { Filter, FilterOp } from './filter.ts';
import type { Key } from './key.ts';
import type { PrivateOrigins } from './private-origins.ts';
import type { Principal } from './runtime/principal.ts';
import type { Agent, McpServer, Provider, SecretRef, ToolDefinition } from './schema.ts';
import type { Secret } from './secret.ts';

/** One stored value. */
export interface Entry {
  readonly key: Key;
  readonly value: unknown;
  /** Differs for every write of this key, also after a delete. */
  readonly version: string;
}

/** One part of a commit: a write, or without a `value` a delete. */
export interface Change {
  readonly key: Key;
  readonly value?: unknown;
  /** The value is gone after this time. */
  readonly ttlMs?: number;
  /** The version that the key must have now; `null`: the key must not exist; absent: no matter. */
  readonly ifVersion?: string | null;
}

/** What became of a commit. */
export type CommitResult =
  | { readonly ok: true; readonly version: string }
  | { readonly ok: false; readonly conflicts: readonly Key[] };

/**
 * Where state is kept. Everything durable in Pinnace is a module over this port.
 *
 * A value is what `structuredClone` copies without losing anything: JSON, dates, maps, sets, byte arrays, up to 4 MiB. What is
 * read is a copy: changing it changes nothing stored. `get` answers `undefined` on a miss. `list` answers the entries under
 * `prefix`, that at the prefix itself first, in the order of their keys (numbers before text, by size; text by code point), those
 * behind `after`, at most `limit` (1 to 1,000); what is listed can be read. `commit` takes 1 to 100 changes of different keys and is all-or-nothing: when the
 * version of any differs from its `ifVersion`, nothing is written and the keys that differed are the answer. When the answer of a
 * commit with an `ifVersion` was lost, do not repeat it inside the storage, where it would conflict with itself: reject it. The same commit
 * twice without `ifVersion` equals once. An expired value is as good as deleted, to reads, lists and versions.
 *
 * Bad keys and values are `invalid_argument`, and so is a commit whose keys take more than 80,000 bytes (`commit_too_large`). A store that is full, closed or out of reach is `unavailable` with the reason
 * `storage_full`, `storage_closed` or `storage_blocked`; nothing of that commit is written. Keys and values are never logged.
 */
export interface Storage {
  get(key: Key): Promise<Entry | undefined>;
  list(options: { readonly prefix: Key; readonly after?: Key; readonly limit: number }): Promise<Entry[]>;
  commit(changes: readonly Change[]): Promise<CommitResult>;
}

/**
 * Tells of changes, where the platform can. `onNews` is called after any of the keys may have changed, by whoever and wherever;
 * several changes may be told once, and a call may come for nothing. It is called until the signal aborts, and never throws.
 */
export interface Watchable {
  watch(keys: readonly Key[], options: { readonly signal: AbortSignal; readonly onNews: () => void }): void;
}

/** A storage that holds something open: after `close`, every call is `unavailable` with the reason `storage_closed`. */
export interface ClosableStorage extends Storage {
  close(): Promise<void>;
}

/**
 * Where definitions come from. Each record carries its `revision`. A miss is `undefined`; a source that does not answer is
 * `unavailable`. Records are already parsed: a definition that breaks its schema is `invalid_argument` when it enters. `source`
 * names where the records come from; records of a catalog with one are cached in the shared layer, under that name.
 *
 * The catalog itself returns the records that the deployment shares, which have no `tenant`. `forTenant` returns a catalog of one
 * tenant's own records, each with that `tenant`; a tenant's own record goes before a shared one with the same id. Without
 * `forTenant`, all records are shared. A record of another tenant is never used: it is refused as `catalog_invalid`.
 */
export interface Catalog {
  readonly source?: string;
  forTenant?(tenant: string): Catalog;
  agent(agentId: string, signal?: AbortSignal): Promise<Agent | undefined>;
  provider(providerId: string, signal?: AbortSignal): Promise<Provider | undefined>;
  tool(toolId: string, signal?: AbortSignal): Promise<ToolDefinition | undefined>;
  /** A catalog without MCP servers may leave it out. */
  mcpServer?(serverId: string, signal?: AbortSignal): Promise<McpServer | undefined>;
  listTools(
    query: { readonly after?: string; readonly limit: number },
    signal?: AbortSignal,
  ): Promise<ToolDefinition[]>;
  /** By id. A catalog that cannot list them may leave it out: then servers are checked without looking at each other. */
  listMcpServers?(
    query: { readonly after?: string; readonly limit: number },
    signal?: AbortSignal,
  ): Promise<McpServer[]>;
}

/**
 * A catalog that takes records of MCP servers: the check of a server writes what was approved. A record whose revision is not
 * `ifRevision` is a `conflict`; every write gives the record the next revision, and what it now is.
 */
export interface McpServerWriter {
  put(kind: 'mcpServer', record: McpServer, options: { readonly ifRevision: number }): Promise<McpServer>;
}

/**
 * Gives the language model for a provider whose `model` is set. A provider that it does not serve is `invalid_argument`. The
 * secret is revealed when a request is sent, never sooner, and stands in no error.
 */
export interface ModelSource {
  model(provider: Provider, secret: Secret | undefined): LanguageModel;
}

/**
 * Resolves a secret reference to its value and its destinations (`Secret.origins`). A secret goes to none but its origins: for
 * another one it is `forbidden` with the reason `secret_origin_mismatch`, and the runtime and the egress check it again. A secret
 * whose definition declares no origins has none, unless the composition says otherwise at the source. A missing secret is
 * `not_found`, a denied one `forbidden`, one whose source does not answer `unavailable`; honours the signal. No error names more
 * than the id and origins.
 */
export interface SecretSource {
  resolve(ref: SecretRef, options: { readonly scope: SecretScope; readonly signal: AbortSignal }): Promise<Secret>;
}

/** Who asks for a secret, and where it would go. */
export interface SecretScope {
  readonly tenant: string;
  readonly agentId: string;
  readonly toolId?: string;
  /** The origin that would receive the value. Absent: a function of the composition would, and the secret must name `code`. */
  readonly origin?: string;
}

/** A text with secrets in it, part by part: `['Bearer ', secret]`. It is put together by the adapter that opens the socket. */
export type SecretText = readonly (string | Secret)[];

/** The terms of one request. */
export interface EgressOptions {
  /** The only origins that may be reached, as `URL.origin` writes them; `any`: every public one, and then without secrets. */
  readonly origins: readonly string[] | 'any';
  /** The longest body of the answer, in bytes as they are read. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** For the whole exchange, the body too; 10 s when absent. */
  readonly timeoutMs?: number;
  /** Of the listed origins, those that the composition lets lead to a private address, or over plain http. Never from a record. */
  readonly privateOrigins?: PrivateOrigins;
  /**
   * `caller`: the caller limits time, load and the kind of the answer, as for a model's stream: without `timeoutMs` there is no
   * timeout, neither the circuit breaker nor the limit of concurrent calls applies, and a body of any type is read. An abort then
   * rejects with the signal's own reason.
   */
  readonly limits?: 'caller';
  /** The W3C `traceparent` of the request, for its own origin alone; platforms whose servers would refuse it leave it out. */
  readonly traceparent?: string | undefined;
  /** Header values with secrets. */
  readonly secretHeaders?: Readonly<Record<string, SecretText>>;
  /** Fields of a body of JSON or form data, with secrets. */
  readonly secretFields?: Readonly<Record<string, SecretText>>;
  /** Names the requests that share a circuit breaker at their origin; those of the same path, ids aside, when absent. */
  readonly circuit?: string;
  /** `refuse`: an answer that is a redirect is `forbidden`; `follow` when absent. */
  readonly redirects?: 'follow' | 'refuse';
}

/**
 * The way out: sends a request where it may go, and nowhere else.
 *
 * Every hop is checked before its socket opens: `checkUrl`, the listed origins, and, where the platform can, that every address
 * behind the name is public and is the one that the socket uses. Redirects are followed by hand, at most 5, never from https to
 * http. Another origin gets neither secrets nor the request's own headers, nor has it them back later. PUT, PATCH and DELETE
 * follow no redirect, a POST is repeated at its own origin only; 303, and 301 or 302 of a POST, go on as a GET without body.
 * Secrets are added last, to header values and named body fields, never to a URL.
 *
 * Requests to a path that fails again and again are refused for a while as `unavailable` with the reason `dependency_unavailable`,
 * `retryAfterMs` and the cause in `details.lastFailure`; other paths of its origin are not.
 *
 * A request that may not go is `forbidden`, one that is not well formed `invalid_argument`. A host that does not answer, a
 * body that is neither text nor JSON, and a platform that cannot check are `unavailable`; a body that is too long is
 * `budget_exceeded`, on reading too. An answer of any status is no error. Its headers are the harmless ones; never a cookie.
 * No error names a URL, a header value or a body; one may name the host of a listed origin, which is configuration.
 */
export interface Egress {
  fetch(request: Request, options: EgressOptions): Promise<Response>;
}

/** What an MCP server answered to a call, as it came; nothing of it is trusted. */
export interface McpCallResult {
  readonly content: readonly unknown[];
  readonly structuredContent?: unknown;
  readonly isError: boolean;
}

/** One tool call over a connection. */
export interface McpCall {
  /** As the server names it. */
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** The pinned raw definition. One that says `readOnlyHint` or `idempotentHint` is called again where its session was gone. */
  readonly definition: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  /** For the whole call, however much progress it tells of. */
  readonly timeoutMs: number;
  /** Goes along as `traceparent` of the call's `_meta` (W3C Trace Context). */
  readonly traceparent?: string | undefined;
  readonly onProgress?: (
    progress: { readonly progress: number; readonly total?: number; readonly message?: string },
  ) => void;
}

/** A connection to an MCP server, for one run of one tenant. */
export interface McpConnection {
  readonly protocolVersion: string;
  readonly serverInfo: { readonly name: string; readonly version: string };
  readonly instructions: string | undefined;
  /** The raw definitions of all pages, unknown fields too. */
  listTools(options: { readonly signal: AbortSignal }): Promise<readonly unknown[]>;
  callTool(call: McpCall): Promise<McpCallResult>;
  /** Stops what is under way. Never rejects. */
  close(): Promise<void>;
}

/**
 * Connects to MCP servers. Only the server's exact URL is asked, over the guarded way out; the secret goes there and nowhere else;
 * no redirect is followed; no client capability is declared, so that a server can ask neither model nor person. A call that ends,
 * with its signal (`cancelled`) or its time (`deadline_exceeded`), ends at the server too. A session that the server has
 * forgotten is begun anew.
 *
 * A server that does not answer is `unavailable`, with the reason `protocol_unsupported` when it speaks no known revision; one that
 * refuses the secret is `unavailable` with the reason `mcp_auth`; one that answers something else than MCP is `unavailable` with
 * the reason `mcp_invalid_answer`; a URL that may not be asked and a redirect are `forbidden`; an answer that is too long, and
 * a list without end, is `budget_exceeded`; a call that the server refuses as unknown is `not_found`. Texts of the server stand in
 * no error.
 */
export interface McpConnector {
  connect(
    server: McpServer,
    options: {
      readonly secret: Secret | undefined;
      readonly signal: AbortSignal;
      /** Is called when the server says that its list of tools has changed, which it may do while it answers a call. */
      readonly onToolsChanged?: () => void;
    },
  ): Promise<McpConnection>;
}

/** The terms of one run of code. */
export interface SandboxOptions {
  /** JSON; the code gets a copy. */
  readonly input: unknown;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** The longest output as JSON text, in UTF-16 code units; 65,536 when absent. */
  readonly maxOutputLength?: number;
}

/**
 * Runs code that is not trusted: the body of an async function of `input`, whose result, as JSON, is the answer.
 *
 * The code has the language and a few harmless globals: no network, no storage, no other code, nothing of its host. It ends at
 * its time or with the signal, also in an endless loop, and nothing of it goes on after the answer. Code that cannot be read, or
 * that says `import` or `export`, is `invalid_argument`; an error that it throws is `internal` with the reason `code_failed`, and
 * without its text; an output that is no JSON likewise; one that is too long is `budget_exceeded`. A platform that cannot
 * isolate runs nothing: `unavailable`. Memory is limited only where the platform can do so: on Deno, too much of it is
 * `budget_exceeded` with the reason `out_of_memory`; a browser's worker shares the memory of the page's process, without a limit.
 */
export interface Sandbox {
  run(code: string, options: SandboxOptions): Promise<unknown>;
}

/** What a grounding source searches. */
export type GroundingKind = 'search' | 'vector' | 'structured' | 'code';

/** A question to one source. */
export interface GroundingRequest {
  /** Whose data: part of the key under which it is kept, never a filter. */
  readonly tenant: string;
  readonly query?: string | undefined;
  readonly embedding?: ArrayLike<number> | undefined;
  /** The most hits, 1 to 200. */
  readonly topK: number;
  /** All must hold for every hit. */
  readonly filters: readonly Filter[];
  /** The order of a structured source's hits; text and numbers as they compare. */
  readonly sort?: readonly { readonly field: string; readonly direction?: 'asc' | 'desc' | undefined }[] | undefined;
  /** Figures of a structured source instead of its records: one hit for each value of `by`, or one for all. */
  readonly aggregate?: GroundingAggregate | undefined;
}

/** What a structured source adds up. */
export interface GroundingAggregate {
  readonly by?: string | undefined;
  readonly figures: readonly {
    readonly op: 'count' | 'sum' | 'avg' | 'min' | 'max';
    readonly field?: string | undefined;
  }[];
}

/** Where a hit comes from. Lines count from 1, both ends included. */
export interface GroundingOrigin {
  readonly uri: string;
  readonly path?: string;
  readonly lines?: readonly [from: number, to: number];
  /** The version of the source, or of the file, that was read. */
  readonly version: string;
  readonly updatedAt?: string;
}

/** One result of one source. */
export interface SourceHit {
  readonly id: string;
  readonly content: string;
  /** Which part of the whole text the content is, in UTF-16 code units; absent for all of it. */
  readonly contentRange?: readonly [from: number, to: number];
  readonly title?: string;
  readonly source: GroundingOrigin;
  /** As the source reckons; not to be compared with another source's. */
  readonly score: number;
  readonly scoreKind: 'bm25' | 'cosine' | 'exact' | 'rerank';
  /** How probable it is that the hit is relevant, 0 to 1. */
  readonly confidence: number;
  /** Where the query matched, in UTF-16 code units of the content or of another field. */
  readonly matched: readonly { readonly field: string; readonly ranges: readonly (readonly [number, number])[] }[];
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** How much a source holds of one tenant. */
export interface GroundingStats {
  /** Differs after every change of what is held. */
  readonly version: string;
  readonly items: number;
  /** What whoever operates the source may want to know: sizes, measured quality. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** What a source can be asked. */
export interface GroundingCapabilities {
  readonly query: boolean;
  readonly embedding: boolean;
  readonly filters: readonly FilterOp[];
  /** Sorting and figures. */
  readonly records: boolean;
}

/**
 * Where context comes from.
 *
 * `retrieve` gives hits of the request's tenant alone, the best first, at most `topK`. Filters are applied before anything is
 * scored or cut. Every hit has content, its source and a confidence in 0..1; no two have the same id. Nothing found is an empty
 * list, never an error. The same request on the same version gives the same hits in the same order; changing what was given
 * changes nothing that is held. A request for what is not among the capabilities, or that asks nothing at all, is
 * `invalid_argument`; a source that does not answer is `unavailable`; after the signal has aborted, `cancelled`. No error names a
 * query or a content.
 */
export interface GroundingSource {
  readonly id: string;
  readonly kind: GroundingKind;
  readonly capabilities: GroundingCapabilities;
  retrieve(request: GroundingRequest, signal: AbortSignal): Promise<readonly SourceHit[]>;
  stats(tenant: string, signal: AbortSignal): Promise<GroundingStats>;
}

/** What is to be remembered. */
export interface GroundingItem {
  /** Remembering the same id again replaces what was there; without one, it is a hash of the content. */
  readonly id?: string | undefined;
  readonly text: string;
  readonly title?: string | undefined;
  readonly uri?: string | undefined;
  readonly path?: string | undefined;
  readonly lines?: readonly [from: number, to: number] | undefined;
  readonly embedding?: ArrayLike<number> | undefined;
  /** JSON; filters read it. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** The item is gone after this time. */
  readonly ttlMs?: number | undefined;
}

/**
 * A source that can be written. `remember` keeps items of one tenant, 1 to 1,000 at once, and gives their ids; what it has given
 * can be found at once. The same items twice equal once. Under an `idempotencyKey` at most 50 are taken, all or none; the same
 * key with the same items does nothing and gives the same ids, with others it is a `conflict`. `forget` removes what is among
 * the ids and passes the filters, and gives how many there were; another tenant's are never touched. Items that are no items are
 * `invalid_argument`, and then nothing is kept.
 */
export interface WritableGroundingSource extends GroundingSource {
  remember(request: RememberRequest, signal: AbortSignal): Promise<readonly string[]>;
  forget(request: ForgetRequest, signal: AbortSignal): Promise<number>;
}

/** Items to be kept for one tenant. */
export interface RememberRequest {
  readonly tenant: string;
  readonly items: readonly GroundingItem[];
  readonly idempotencyKey?: string | undefined;
}

/** What to forget of one tenant: what is among the ids and passes the filters. One of the two must be there. */
export interface ForgetRequest {
  readonly tenant: string;
  readonly ids?: readonly string[] | undefined;
  readonly filters?: readonly Filter[] | undefined;
}

/** Turns texts into vectors of one length, in the order of the texts. `id` names the model: vectors of another do not compare. */
export interface Embedder {
  readonly id: string;
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly ArrayLike<number>[]>;
}

/** Receives what happens, in order and already redacted. What it throws, or a promise that it rejects, cannot break a run. */
export type EventSink = (event: ObservedEvent) => void;

/** Gives the verified caller of an HTTP request, or rejects with a `PinnaceError` that carries status and code. */
export interface Authenticator {
  authenticate(request: Request): Promise<Principal>;
}

/** What `Authorize` answers. */
export type Authorization =
  | { readonly decision: 'allow'; readonly reason?: string }
  | { readonly decision: 'deny'; readonly reason: string }
  | { readonly decision: 'ask'; readonly reason: string };

/**
 * Decides on one action (`tool.call`), called before it. An error in it denies. `resource.tenant` is the tenant whose record is
 * changed; absent, the record is shared or the resource is no record. What a tenant may not do across its boundary is refused
 * whatever the hook answers.
 */
export type Authorize = (
  action: string,
  principal: Principal,
  resource: { readonly type: string; readonly id: string; readonly tenant?: string },
  context: { readonly input?: unknown; readonly agentId?: string },
) => Authorization | Promise<Authorization>;
