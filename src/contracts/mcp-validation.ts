/** The check of an MCP server, as it is asked for and answered. */

import * as v from 'valibot';
import type { McpFinding, McpServer, PinnedTool } from '../base/schema.ts';

const Name = v.pipe(v.string(), v.minLength(1), v.maxLength(128));

/** What `validateMcpServer` takes. Without `approve`, it only looks. */
export const McpValidationRequest = v.strictObject({
  /** Pins what the server offers now. */
  approve: v.optional(v.boolean(), false),
  /** The `digest` of the answer that was looked at, to be given with `approve`: with another offer by now, nothing is approved. */
  digest: v.optional(v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'must be a digest of an answer'))),
  /** What tools do, by their names; one that nobody has said anything of counts as destructive. */
  effects: v.optional(v.record(Name, v.picklist(['read', 'write', 'destructive'])), {}),
  /** Tools that are not pinned: nobody sees them, and what was found in them does not matter. */
  leaveOut: v.optional(v.array(Name), []),
});
export type McpValidationRequest = v.InferOutput<typeof McpValidationRequest>;
export type McpValidationInput = v.InferInput<typeof McpValidationRequest>;

/** How one offered tool stands to the pin. */
export interface OfferedTool {
  /** As the server names it, or where that is no name `#` and its place in the list. */
  readonly name: string;
  /** What models call it; absent for one that cannot be offered. */
  readonly exposedAs?: string;
  readonly fingerprint?: string;
  readonly change: 'same' | 'changed' | 'added';
  /** The fields that differ from the pin; those that MCP does not know are all called `other`. */
  readonly changedFields: readonly string[];
  /** Whether an approval pins it. */
  readonly included: boolean;
  readonly effect?: PinnedTool['effect'];
  /** As the server sends it: the words of a stranger, for a person to read. */
  readonly definition: unknown;
}

/** What a check found, and what became of it. */
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
  readonly tools: readonly OfferedTool[];
  /** Pinned tools that are no longer offered. */
  readonly removed: readonly string[];
  readonly findings: readonly McpFinding[];
}
