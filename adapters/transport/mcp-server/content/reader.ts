/** The caller that reads resources and prompts. */

import type { Principal } from '../../../../src/base/principal.ts';
import type { Span } from '../../../../src/events/span.ts';
import type { CallingClient } from '../../../../src/tools/tool.ts';

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
