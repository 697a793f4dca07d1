/** Prompts and resources of MCP servers, as callers of the runtime see them. All texts in them are the server's: untrusted. */

import * as v from 'valibot';
import type { ErrorData } from '../../base/errors.ts';
import type { Principal } from '../../base/principal.ts';
import type { McpAppCsp, McpSelection, McpServer } from '../../base/schema.ts';
import type { Secret } from '../../base/secret.ts';

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

const facts = {
  /** The id of the server's record. */
  server: Name,
  uri: v.pipe(v.string(), v.minLength(1), v.maxLength(2048)),
  /** Of the approved app, as the part `data-mcp-app` says. */
  sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'must be the hash of a `data-mcp-app` part')),
};

/** The request for an app. */
export const McpAppRequest = v.strictObject(facts);
export type McpAppRequest = v.InferInput<typeof McpAppRequest>;

/** The app of a tool's result. */
export interface McpAppRef {
  /** The id of the server's record. */
  readonly serverId: string;
  readonly uri: string;
  readonly sha256: string;
}

/** A call that an app makes. */
export const McpAppCallRequest = v.strictObject({
  ...facts,
  /** As the server names it. */
  tool: Name,
  arguments: v.optional(v.record(v.string(), v.unknown()), {}),
  /** The decision of the person who was shown `question`. */
  approved: v.optional(v.boolean()),
});
export type McpAppCallRequest = v.InferInput<typeof McpAppCallRequest>;

/** An app that was read again, and is the one that a person has approved. */
export interface McpApp {
  readonly server: string;
  readonly alias: string;
  /** Of the server's URL. */
  readonly host: string;
  readonly uri: string;
  readonly sha256: string;
  /** Show it in a sandboxed frame only. */
  readonly untrusted: true;
  readonly html: string;
  /** The only origins that the frame may reach. */
  readonly csp: McpAppCsp;
}

/** What came of an app's call. */
export type McpAppCallResult =
  | { readonly ok: true; readonly output: unknown }
  | {
    readonly ok: false;
    readonly error: ErrorData;
    /** Describes the call to the person who may approve it. Repeat the request with `approved`. */
    readonly question?: string;
  };

interface AppInput {
  readonly signal?: AbortSignal | undefined;
}

/**
 * The apps of the MCP servers that an agent selects. Callers need the scope `run:create` and the agent. Rejects with `not_found`
 * (`mcp_app_not_found`) for an app that is not approved, `forbidden` for one that has changed since (`mcp_drifted`) and as the
 * permission hook decides, `approval_required` (`mcp_sign_in_required`) where the caller must sign in first, and as `McpConnector`.
 */
export interface RuntimeApps {
  /** Reads the app from its server, and returns it if it is still the one that was approved. */
  readonly read: (agentId: string, request: unknown, principal: Principal, given?: AppInput) => Promise<McpApp>;
  /**
   * Calls a tool of the app's own server in the agent's name, as every call: allowlist, approvals, limits, audit. Only tools whose
   * `visibility` has `app` can be called. An approval needs the scope `tool:approve`.
   */
  readonly call: (
    agentId: string,
    request: unknown,
    principal: Principal,
    given?: AppInput,
  ) => Promise<McpAppCallResult>;
}

/** What of which server is read, and for whom. */
export interface ContentTarget {
  readonly server: McpServer;
  readonly selection: McpSelection;
  readonly principal: Principal;
  readonly signal: AbortSignal;
  /** Returns the server's secret. */
  readonly secret: (server: McpServer) => Promise<Secret | undefined>;
  /** Redacts each access token, before it is used. */
  readonly protect: (token: Secret) => void;
  readonly redact: (text: string) => string;
}

/** A reader, whose connections are open until it closes. */
export interface ContentReader {
  read(uri: string, target: ContentTarget): Promise<McpResource>;
  /** Reads an approved app again. */
  app(wanted: Pick<McpApp, 'uri' | 'sha256'>, target: ContentTarget): Promise<McpApp>;
  prompt(name: string, given: Readonly<Record<string, string>>, target: ContentTarget): Promise<McpPrompt>;
  complete(request: CompletionOf, target: ContentTarget): Promise<McpCompletion>;
  close(): Promise<void>;
}

/** What is completed. */
interface CompletionOf {
  readonly prompt?: string | undefined;
  readonly uriTemplate?: string | undefined;
  readonly argument: { readonly name: string; readonly value: string };
  readonly arguments: Readonly<Record<string, string>>;
}

/** Prompts and resources of pinned servers. */
export interface McpContent {
  /** Those of the pin that the agent may use and that have not drifted. */
  prompts(server: McpServer, selection: McpSelection): readonly McpPromptEntry[];
  resources(server: McpServer, selection: McpSelection): readonly McpResourceEntry[];
  templates(server: McpServer, selection: McpSelection): readonly McpTemplateEntry[];
  /** Rejects for an app that may not be shown now. */
  requireApp(wanted: Pick<McpApp, 'uri' | 'sha256'>, target: Pick<ContentTarget, 'server' | 'selection'>): void;
  /** Creates a reader without connections. */
  open(): ContentReader;
}
