/** What an MCP server needs: the tools of a caller, and a storage for the loaded ones. */

import { PinnaceError } from '../../../src/base/errors.ts';
import { isRecord } from '../../../src/base/is-record.ts';
import { readPageToken, writePageToken } from '../../../src/base/page.ts';
import type { Principal } from '../../../src/base/principal.ts';
import type { Storage } from '../../../src/contracts/storage.ts';
import type { Rerank } from '../../../src/discovery/discovery-tools.ts';
import { createReport, type OnError, reportedHook, reportedPort } from '../../../src/events/report.ts';
import type { Span } from '../../../src/events/span.ts';
import type { AgentTools } from '../../../src/runtime/agent-tools.ts';
import type { ContentBlock } from '../../../src/tools/content.ts';
import type { ToolSource } from '../../../src/tools/implement.ts';
import type { CallingClient } from '../../../src/tools/tool.ts';

/** The tools that a server offers, and which of them it lists at once. */
export interface McpHost {
  /**
   * Returns the tools that the caller may use, and the way to call them: `(principal) => runtime.tools('helper', principal)`.
   * Called for every request. Rejects for a caller that may use none.
   */
  readonly tools: (principal: Principal) => Promise<AgentTools>;
  /** Stores the loaded sets; instances that share it continue each other's sets. */
  readonly storage: Storage;
  /** Tools that every caller may list and call, besides those of `tools`, such as the tools of a tree. */
  readonly sources?: readonly ToolSource[];
  /** The names of tools of `tools` that are listed and called without loading, or prefixes with `*`; none when absent. */
  readonly listed?: readonly string[];
  /** What clients may list, read and complete; none when absent. */
  readonly resources?: readonly McpResources[];
  /** The prompts that people choose in their clients; none when absent. */
  readonly prompts?: McpPrompts;
  /**
   * `client`: a client whose principal has the scope `tool:approve`, and which `authorize` lets decide (`approval.decide`), is asked
   * whether a call may be made that a person must approve. Trust only clients that show such questions to a person. Absent: such calls
   * are refused as `approval_required`.
   */
  readonly approvals?: 'client';
  /**
   * Sessions for clients of 2025-11-25, over HTTP: with them such a client can be asked, and can subscribe to resources. They are held
   * by this instance: a load balancer must send a session's requests to one instance. None when absent.
   */
  readonly sessions?: McpSessionOptions;
  /** How the server presents itself. */
  readonly info?: { readonly name: string; readonly version: string };
  /** The instructions for a client's model. */
  readonly instructions?: string;
  /** Reorders the results of `tool_find`. */
  readonly rerank?: Rerank;
  /** Receives what the error of a request does not contain: what `tools`, `storage`, `rerank` and tools of `sources` throw. */
  readonly onError?: OnError;
}

export interface McpSessionOptions {
  /** The most sessions of this instance (100). */
  readonly max?: number;
  /** The most sessions of a principal (10). One more closes the one that was not used for the longest time. */
  readonly maxPerPrincipal?: number;
  /** The time without a request after which a session is closed, in milliseconds (1,800,000). */
  readonly idleMs?: number;
}

/** Returns the host; what its parts throw is reported to its `onError`, since clients receive none of it. */
export function reportedHost(host: McpHost): McpHost {
  const report = createReport(host.onError);
  const { tools } = reportedPort({ tools: host.tools }, report, { kind: 'mcp' });
  const rerank = host.rerank && reportedHook(host.rerank, report, 'rerank');
  const storage = reportedPort(host.storage, report, { kind: 'storage', isRetried: true });
  return { ...host, tools, storage, ...(rerank && { rerank }) };
}

export const defaultInfo = { name: 'pinnace', version: '1' };

export const statelessInstructions =
  'Find tools with tool_find, load them with tool_load, then call them with tool_call. Pass on the "toolset" that tool_load gave.';

export const connectionInstructions =
  'Find tools with tool_find and load them with tool_load: they then stand in the list of tools and can be called.';

/** Who reads. */
export interface McpReader {
  readonly principal: Principal;
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal;
  /** The client, which can ask its person while a resource is read or a prompt is made; absent for listings. */
  readonly client?: CallingClient | undefined;
  /** Where events of the read are emitted. */
  readonly span?: Span | undefined;
}

/** A page of a listing. */
export interface McpPage<Item> {
  readonly items: readonly Item[];
  /** Continues the listing; absent on the last page. Clients return it, so check it. */
  readonly nextCursor?: string | undefined;
}

/** Which page. */
export interface McpPageOptions {
  /** The most items. */
  readonly limit: number;
  /** The `nextCursor` of the page before; the first page when absent. */
  readonly cursor?: string | undefined;
}

/** A resource in a listing. */
export interface McpResource {
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  /** In bytes. */
  readonly size?: number;
}

/** A family of resources: a URI template (RFC 6570) with simple variables, `notes://{id}`. */
export interface McpResourceTemplate extends Omit<McpResource, 'uri' | 'size'> {
  readonly uriTemplate: string;
}

/** A part of a resource: text, or bytes, which may be given as base64. */
export type McpResourceContent =
  & {
    /** The resource's own when absent. */
    readonly uri?: string;
    readonly mimeType?: string;
  }
  & ({ readonly text: string } | { readonly blob: Uint8Array<ArrayBuffer> | string });

/** What a client wants completed. */
export interface McpCompletion {
  /** The variable of the template, or the argument of the prompt. */
  readonly argument: string;
  /** What was typed so far, at most 1,024 characters. */
  readonly value: string;
  /** The values of the others, as far as they are known. */
  readonly others: Readonly<Record<string, string>>;
}

/**
 * Resources for the clients of an MCP server. Every method gets the caller: return nothing that its principal may not read. What a
 * method throws is reported to `onError`; a client reads the text of a `PinnaceError` alone.
 */
export interface McpResources {
  /** Returns a page of the resources that the caller may read. Absent: none is listed. */
  list?(reader: McpReader, page: McpPageOptions): Promise<McpPage<McpResource>> | McpPage<McpResource>;
  /** The templates. */
  readonly templates?: readonly McpResourceTemplate[];
  /** Returns the contents; `undefined` for a URI that is unknown or not the caller's. `uri` has a scheme and at most 2,048 characters. */
  read(
    uri: string,
    reader: McpReader,
  ): Promise<readonly McpResourceContent[] | undefined> | readonly McpResourceContent[] | undefined;
  /** Returns values for a variable of a template. The first 100 are sent. */
  complete?(
    template: McpResourceTemplate,
    wanted: McpCompletion,
    reader: McpReader,
  ): Promise<readonly string[]> | readonly string[];
  /**
   * Calls `onChange` after changes of a resource that the caller may read, until the signal aborts. Returns `false` for a URI that it
   * does not watch. Needs `sessions`.
   */
  watch?(
    uri: string,
    options: {
      readonly principal: McpReader['principal'];
      readonly signal: AbortSignal;
      readonly onChange: () => void;
    },
  ): Promise<boolean> | boolean;
}

/** An argument of a prompt. Its value is text. */
export interface McpPromptArgument {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly required?: boolean;
  /** Returns values for what was typed so far. The first 100 are sent. */
  readonly complete?: (wanted: McpCompletion, reader: McpReader) => Promise<readonly string[]> | readonly string[];
}

/** A message of a prompt. */
export interface McpPromptMessage {
  readonly role: 'user' | 'assistant';
  /** Text, or a text, an image, a sound or a file as a block. */
  readonly content: string | ContentBlock;
}

/** A prompt that people choose in their client. */
export interface McpPrompt {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly arguments?: readonly McpPromptArgument[];
  /** Returns the messages. `input` has the required arguments, none that is not declared, each at most 16,384 characters. */
  readonly messages: (
    input: Readonly<Record<string, string>>,
    reader: McpReader,
  ) => Promise<readonly McpPromptMessage[]> | readonly McpPromptMessage[];
}

/** The prompts of all callers, or a function that returns those of a caller. */
export type McpPrompts =
  | readonly McpPrompt[]
  | ((reader: McpReader) => Promise<readonly McpPrompt[]> | readonly McpPrompt[]);

const pageSize = 200;

type PagePart<Item> = (page: McpPageOptions) => Promise<McpPage<Item>> | McpPage<Item>;

/** Where a page starts: the part, and the part's own cursor. */
interface Place {
  readonly part: number;
  readonly cursor?: string | undefined;
}

/**
 * Returns the page of a listing, one part after the other.
 * @throws PinnaceError `invalid_argument` for a cursor that no page of this caller gave.
 */
export async function pageOf<Item>(
  parts: readonly PagePart<Item>[],
  { listing, principal: { tenant, subject }, cursor }: {
    readonly listing: string;
    readonly principal: Principal;
    readonly cursor: string | undefined;
  },
): Promise<McpPage<Item>> {
  const query = [listing, tenant, subject];
  const items: Item[] = [];
  let place: Place = cursor === undefined ? { part: 0 } : placeOf(await readPageToken(query, cursor));
  while (items.length < pageSize) {
    const part = parts[place.part];
    if (!part) return { items };
    const page = await part({ limit: pageSize - items.length, ...(place.cursor !== undefined && place) });
    items.push(...page.items);
    const { nextCursor } = page;
    place = nextCursor === undefined ? { part: place.part + 1 } : { part: place.part, cursor: nextCursor };
  }
  if (place.part >= parts.length) return { items };
  return { items, nextCursor: await writePageToken(query, JSON.stringify(place)) };
}

function placeOf(text: string): Place {
  const place: unknown = JSON.parse(text);
  const { part, cursor } = isRecord(place) ? place : {};
  return {
    part: typeof part === 'number' && part >= 0 ? part : 0,
    cursor: typeof cursor === 'string' ? cursor : undefined,
  };
}

export function listedPart<Item>(items: readonly Item[]): PagePart<Item> {
  return ({ limit, cursor }) => {
    const from = cursor !== undefined && /^\d{1,9}$/.test(cursor) ? Number(cursor) : 0;
    const end = from + limit;
    return { items: items.slice(from, end), nextCursor: end < items.length ? String(end) : undefined };
  };
}

type MatchTemplate = (uri: string) => Readonly<Record<string, string>> | undefined;

const longestTemplate = 2048;

/**
 * Compiles a template. Takes linear time, whatever the URI.
 * @throws PinnaceError `invalid_argument` for operators, variables next to each other, and a name that is used twice.
 */
export function compileTemplate(uriTemplate: string): MatchTemplate {
  const parts = uriTemplate.split(/\{([^{}]*)\}/); // literals at even places, names at odd ones
  const names = parts.filter((_, at) => at % 2 === 1);
  const literals = parts.filter((_, at) => at % 2 === 0);
  const isOdd = names.some((name) => !/^\w{1,64}$/.test(name)) || new Set(names).size < names.length ||
    literals.slice(1, -1).includes('') || literals.some((text) => /[{}]/.test(text));
  if (isOdd || uriTemplate.length > longestTemplate) {
    throw new PinnaceError('invalid_argument', 'Cannot use the URI template: it must have simple variables alone', {
      details: { reason: 'template_not_supported' },
    });
  }
  return (uri) => {
    const [first = '', ...rest] = literals;
    if (!uri.startsWith(first)) return undefined;
    const values: Record<string, string> = {};
    let at = first.length;
    for (const [index, literal] of rest.entries()) {
      const isLast = index === rest.length - 1;
      const end = literal === '' ? uri.length : isLast ? uri.length - literal.length : uri.indexOf(literal, at);
      const value = end < at || !uri.startsWith(literal, end) ? undefined : readValue(uri.slice(at, end));
      if (value === undefined) return undefined;
      values[names[index] ?? ''] = value;
      at = end + literal.length;
    }
    return at === uri.length ? values : undefined;
  };
}

/** The decoded value; `undefined` for one that could name another place, or hide something. */
function readValue(text: string): string | undefined {
  if (/[/?#&]/.test(text)) return undefined;
  try {
    const value = decodeURIComponent(text);
    // oxlint-disable-next-line no-control-regex -- these are what is refused
    return value === '' || value === '.' || value === '..' || /[\u0000-\u001f\u007f/\\]/.test(value)
      ? undefined
      : value;
  } catch {
    return undefined;
  }
}

/** The caller of a request, and its message. */
export interface McpCaller {
  readonly principal: Principal;
  /** The tools that the host returned for this principal. */
  readonly tools: AgentTools;
  /** The body, read and parsed; `undefined` for a request without one. */
  readonly body: unknown;
}

/** Answers MCP requests over HTTP. Holds no state between them, but for the sessions that a host allows. */
export interface McpEndpoint {
  /**
   * The request's signal, when it aborts, stops the tool of a request without a session.
   *
   * @throws PinnaceError `overloaded` when there is no room for another session.
   */
  fetch(request: Request, caller: McpCaller): Promise<Response>;
}
