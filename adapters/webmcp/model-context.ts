/** The part of the WebMCP API that Pinnace uses (W3C Web Machine Learning CG draft, `document.modelContext`). */

/** A tool as a page registers it. */
export interface PageToolDefinition {
  /** 1 to 128 of `A-Za-z0-9_.-`. */
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  /** A JSON Schema. */
  readonly inputSchema: object;
  readonly annotations?: { readonly readOnlyHint?: boolean; readonly untrustedContentHint?: boolean };
  execute(input: unknown, options?: { readonly signal?: AbortSignal }): Promise<unknown>;
}

/** A registered tool as the page lists it. */
export interface ListedPageTool {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  /** Text in Chromium 149 to 153, an object later. */
  readonly inputSchema?: string | object;
  readonly origin?: string;
  readonly annotations?: { readonly readOnlyHint?: boolean };
}

/** `document.modelContext`. Emits `toolchange`. */
export interface ModelContext extends EventTarget {
  registerTool(tool: PageToolDefinition, options: { readonly signal: AbortSignal }): Promise<void> | void;
  getTools(): Promise<readonly ListedPageTool[]>;
  executeTool(tool: ListedPageTool, input: unknown, options: { readonly signal: AbortSignal }): Promise<unknown>;
}

/** Returns the API of this window; `undefined` where the browser has none, and in workers. */
export function modelContext(): ModelContext | undefined {
  const { document } = globalThis as { readonly document?: { readonly modelContext?: ModelContext } };
  return document?.modelContext;
}
