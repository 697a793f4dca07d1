/** Request and result of the check of an MCP server. */

import * as v from 'valibot';
import type { Principal } from '../../base/principal.ts';
import type { McpAppCsp, McpAuthPin, McpFinding, McpServer, PinnedTool } from '../../base/schema.ts';
import type { Secret } from '../../base/secret.ts';

const Name = v.pipe(v.string(), v.minLength(1), v.maxLength(128));

/** The request of `validateMcpServer`. Without `approve`, it changes nothing. */
export const McpValidationRequest = v.strictObject({
  /** Pins the server's current tools. */
  approve: v.optional(v.boolean(), false),
  /** Required with `approve`: the `digest` of the reviewed result. When the offer has changed since, nothing is approved. */
  digest: v.optional(v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'must be a digest of an answer'))),
  /** The effects of tools by name. A tool without an entry counts as destructive. */
  effects: v.optional(v.record(Name, v.picklist(['read', 'write', 'destructive'])), {}),
  /**
   * Tools that are not pinned: agents cannot see them, and findings in them are ignored. Also prompts, resources and templates, as
   * `prompt:<name>`, `resource:<uri>`, `template:<uri template>`, and apps, as `app:<uri>`.
   */
  leaveOut: v.optional(v.array(v.pipe(v.string(), v.minLength(1), v.maxLength(2100))), []),
});
export type McpValidationRequest = v.InferOutput<typeof McpValidationRequest>;
/** What to check of an MCP server, as callers write it: fields with defaults are optional. */
export type McpValidationInput = v.InferInput<typeof McpValidationRequest>;

/** An offered tool, compared with the pin. */
export interface OfferedTool {
  /** The server's name for it; for an invalid name, `#` and its position in the list. */
  readonly name: string;
  /** Its name for models; absent when it cannot be offered. */
  readonly exposedAs?: string;
  readonly fingerprint?: string;
  readonly change: 'same' | 'changed' | 'added';
  /** The fields that differ from the pin; those that MCP does not know are all called `other`. */
  readonly changedFields: readonly string[];
  /** Whether an approval pins it. */
  readonly included: boolean;
  readonly effect?: PinnedTool['effect'];
  /** The server's raw definition: untrusted text, for a person to review. */
  readonly definition: unknown;
}

/** An offered prompt, resource or template, compared with the pin. */
export interface OfferedContent {
  /** The name of a prompt, the URI of a resource, the URI template of a template. */
  readonly id: string;
  /** The same of a resource, as MCP calls it. */
  readonly uri?: string;
  /** How `leaveOut`, masks and findings name it: `prompt:<name>`, `resource:<uri>`, `template:<uri template>`. */
  readonly label: string;
  readonly fingerprint?: string;
  readonly change: 'same' | 'changed' | 'added';
  readonly changedFields: readonly string[];
  /** Whether an approval pins it. One with a finding is not pinned. */
  readonly included: boolean;
  /** The server's raw definition: untrusted text, for a person to review. */
  readonly definition: unknown;
}

/** An offered app, compared with the pin. */
export interface OfferedApp {
  readonly uri: string;
  /** How `leaveOut`, masks and findings name it: `app:<uri>`. */
  readonly label: string;
  /** Over its HTML, `csp` and `permissions`. */
  readonly sha256: string;
  /** Of its HTML. */
  readonly bytes: number;
  /** The only origins that it may reach. */
  readonly csp: McpAppCsp;
  /** What it wants of the browser; nothing of it is granted. */
  readonly permissions: readonly string[];
  /** The tools whose results it shows. */
  readonly tools: readonly string[];
  readonly change: 'same' | 'changed' | 'added';
  readonly included: boolean;
}

/** What a server offers besides tools; of each kind the first 2,000. */
export interface McpContentOffer {
  readonly prompts: readonly OfferedContent[];
  readonly resources: readonly OfferedContent[];
  readonly templates: readonly OfferedContent[];
  /** The labels of what is pinned and no longer offered. */
  readonly removed: readonly string[];
  /** How many are offered in all. */
  readonly total: number;
}

/** The findings of a check and its outcome. */
export interface McpValidation {
  readonly serverId: string;
  /** Of the record as it now is. */
  readonly status: McpServer['status'];
  readonly revision: number;
  /** Whether the offer is now pinned. */
  readonly approved: boolean;
  /** Of everything that the server offers: the same for every choice of `leaveOut`. */
  readonly digest: string;
  readonly protocolVersion: string;
  readonly serverInfo: { readonly name: string; readonly version: string };
  readonly instructions?: string;
  readonly instructionsChanged: boolean;
  /** Where people sign in, for servers with `auth`; an approval pins it. */
  readonly auth?: McpAuthPin;
  /** Whether the caller has signed in; otherwise the tools are those of the pin. */
  readonly signedIn?: boolean;
  readonly tools: readonly OfferedTool[];
  /** Pinned tools that are no longer offered. */
  readonly removed: readonly string[];
  /** Its prompts, resources and templates; absent where there are none. */
  readonly content?: McpContentOffer;
  /** The apps that its tools name; absent where there are none, and where its record does not want `apps`. */
  readonly apps?: readonly OfferedApp[];
  readonly findings: readonly McpFinding[];
}

/** A check of a server: the request, its caller, and what the runtime knows besides. */
export interface McpValidating {
  readonly request: McpValidationRequest;
  /** The approver and its tenant. */
  readonly principal: Principal;
  readonly subject: string;
  readonly tenant: string;
  /** Whether the caller speaks for the deployment, and so checks the shared servers. */
  readonly deployment: boolean;
  readonly signal: AbortSignal;
  /** The server's secret. */
  readonly secret: (server: McpServer) => Promise<Secret | undefined>;
  /** The names of the tools that are known besides. */
  readonly toolNames: (server: McpServer) => Promise<readonly string[]>;
}
