/** Resources of an MCP server, as a host gives them. */

import type { McpPage, McpPageOptions, McpReader } from './reader.ts';

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
export interface McpResourceTemplate {
  readonly uriTemplate: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
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
