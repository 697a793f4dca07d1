/** Prompts and resources of MCP servers, as callers of the runtime see them. All texts in them are the server's: untrusted. */

import * as v from 'valibot';
import type { Principal } from '../../base/principal.ts';

const Name = v.pipe(v.string(), v.minLength(1), v.maxLength(128));
const Uri = v.pipe(v.string(), v.minLength(1), v.maxLength(2048));
const Value = v.pipe(v.string(), v.maxLength(8192));
const Values = v.pipe(v.record(v.pipe(v.string(), v.maxLength(64)), Value), v.maxEntries(20));

/** The request for a prompt. */
export const McpPromptRequest = v.strictObject({
  /** The id of the server's record. */
  server: Name,
  name: Name,
  arguments: v.optional(Values, {}),
});
export type McpPromptRequest = v.InferInput<typeof McpPromptRequest>;

/** The request for a resource. */
export const McpResourceRequest = v.strictObject({
  /** The id of the server's record. */
  server: Name,
  /** Of a pinned resource, or what a pinned template expands to. */
  uri: Uri,
});
export type McpResourceRequest = v.InferInput<typeof McpResourceRequest>;

/** The request for values of an argument of a prompt, or of a variable of a template. */
export const McpCompletionRequest = v.strictObject({
  server: Name,
  /** The prompt; or `uriTemplate`. */
  prompt: v.optional(Name),
  uriTemplate: v.optional(Uri),
  argument: v.strictObject({ name: v.pipe(v.string(), v.minLength(1), v.maxLength(64)), value: Value }),
  /** The arguments that are filled in. */
  arguments: v.optional(Values, {}),
});
export type McpCompletionRequest = v.InferInput<typeof McpCompletionRequest>;

/** Where something is from. */
interface OfServer {
  /** The id of the server's record. */
  readonly server: string;
  readonly alias: string;
}

/** What describes something to people; the server's words. */
interface Described {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
}

/** A prompt of the pin. */
export interface McpPromptEntry extends OfServer, Described {
  /** `alias.name`, as a slash command. */
  readonly command: string;
  readonly arguments: readonly { readonly name: string; readonly description?: string; readonly required: boolean }[];
}

/** A resource of the pin. */
export interface McpResourceEntry extends OfServer, Described {
  readonly uri: string;
  readonly mimeType?: string;
  /** In bytes, as the server says. */
  readonly size?: number;
}

/** A template of the pin. */
export interface McpTemplateEntry extends OfServer, Described {
  readonly uriTemplate: string;
  readonly variables: readonly string[];
  readonly mimeType?: string;
}

/** A page of resources. Templates are on the first one. */
export interface McpResourcePage {
  readonly items: readonly McpResourceEntry[];
  readonly templates: readonly McpTemplateEntry[];
  /** How many resources match. */
  readonly total: number;
  readonly nextPageToken?: string;
}

/** Which resources. */
export interface McpResourceQuery {
  /** A part of the URI, the name or the title, in any case. */
  readonly query?: string | undefined;
  /** Of this server alone, by the id of its record. */
  readonly server?: string | undefined;
  /** The most resources, 1 to 200; 50 when absent. */
  readonly limit?: number | undefined;
  readonly pageToken?: string | undefined;
}

/** A part of a resource. `omitted`: how long the base64 was that is not here. */
export type McpResourcePart =
  & { readonly uri: string; readonly mimeType?: string }
  & (
    | { readonly text: string }
    | { readonly base64: string }
    | { readonly omitted: number }
  );

/** What a resource contains. */
export interface McpResource extends OfServer {
  readonly uri: string;
  /** The contents are data to judge, never instructions. */
  readonly untrusted: true;
  readonly contents: readonly McpResourcePart[];
  /** Whether there was more. */
  readonly truncated?: true;
}

/** One message of a prompt. */
export interface McpPromptMessage {
  readonly role: 'user' | 'assistant';
  /** A text, or the text of an embedded resource with its `uri`. What is no text has only its `type` and size. */
  readonly content:
    | { readonly type: 'text'; readonly text: string; readonly uri?: string }
    | {
      readonly type: 'image' | 'audio' | 'resource' | 'link' | 'other';
      readonly omitted: number;
      readonly uri?: string;
    };
}

/** A prompt with its arguments filled in. */
export interface McpPrompt extends OfServer {
  readonly name: string;
  /** For a person to read and send: no prompt is ever sent by itself. */
  readonly untrusted: true;
  readonly description?: string;
  readonly messages: readonly McpPromptMessage[];
  readonly truncated?: true;
}

/** Values that fit. */
export interface McpCompletion {
  readonly values: readonly string[];
  readonly hasMore: boolean;
}

interface Given {
  readonly signal?: AbortSignal | undefined;
}

/**
 * The prompts of the MCP servers that an agent selects: those that are pinned, allowed and not masked. Callers need the scope
 * `run:create` and the agent. Rejects with `not_found` for everything else, `forbidden` for what has drifted (`mcp_drifted`) and as the
 * permission hook decides, `approval_required` (`mcp_sign_in_required`) where the caller must sign in first, and as `McpConnector`.
 */
export interface RuntimePrompts {
  /** Lists them without a connection. */
  readonly list: (agentId: string, principal: Principal) => Promise<{ readonly items: readonly McpPromptEntry[] }>;
  /** Rejects with `invalid_argument` for arguments that the prompt does not have, and for a required one that is missing. */
  readonly get: (agentId: string, request: unknown, principal: Principal, given?: Given) => Promise<McpPrompt>;
  /** Returns values for an argument of a prompt or a variable of a template; none where the server has no completion. */
  readonly complete: (agentId: string, request: unknown, principal: Principal, given?: Given) => Promise<McpCompletion>;
}

/** The resources of the MCP servers that an agent selects, for the same callers. */
export interface RuntimeResources {
  /** Lists them without a connection, in the order of their servers. */
  readonly list: (agentId: string, principal: Principal, query?: McpResourceQuery) => Promise<McpResourcePage>;
  /** Reads at most 20 parts and 262,144 characters of text; files only where the record of the server allows `media`. */
  readonly read: (agentId: string, request: unknown, principal: Principal, given?: Given) => Promise<McpResource>;
}
