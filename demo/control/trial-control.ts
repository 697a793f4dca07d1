/** The worker's interface for trying tools: the request preview and test calls. */

import type { CatalogExport } from '../../src/registry/index.ts';
import type { DataSource } from '../../src/registry/index.ts';
import type { McpServer } from '../../src/registry/index.ts';
import type { Provider } from '../../src/registry/index.ts';
import type { ToolDefinition } from '../../src/registry/index.ts';
import type { Agent } from '../../src/registry/index.ts';
import type { ErrorData } from '../../src/base/errors.ts';
import type { Answer } from './answer.ts';

/** An HTTP request as it would be sent. Secrets are shown by name: `[secret lab-key]`. */
export interface ToolRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: string;
  /** Whether it may change something: an agent's call then waits for a person. */
  readonly needsApproval: boolean;
}

/** What came of one call. */
export interface ToolTrial {
  /** What a model would get. */
  readonly outcome:
    | { readonly ok: true; readonly output: unknown }
    | { readonly ok: false; readonly error: ErrorData };
  readonly durationMs: number;
  /** What the server said, its beginning; of an HTTP tool whose server has answered. */
  readonly answer?: {
    readonly status: number;
    readonly type: string;
    readonly text: string;
    /** Whether `text` is the beginning of a longer one. */
    readonly isCut: boolean;
  };
  /** The error that the code threw. Models do not receive it. */
  readonly thrown?: string;
}

export interface NamedHost {
  readonly origin: string;
  /** The records that use it, such as `HTTP tool weather`. */
  readonly by: readonly string[];
  /** The names of the secrets that it gets. */
  readonly secrets: readonly string[];
}

/** What a person should know. */
export interface AgentReview {
  /** As it would be imported. */
  readonly document: AgentDocument;
  readonly agents: AgentDocument['agents'];
  readonly tools: AgentDocument['tools'];
  readonly hosts: readonly NamedHost[];
  readonly secrets: readonly string[];
  /** What was made stricter, in words. */
  readonly tamed: readonly string[];
}

/** Agents that are tried beside others. */
export interface VariantControl {
  /** Returns an agent of this record that runs until the page closes and is in no registry. `invalid_argument` when an agent cannot be so. */
  draftAgent(record: object): Promise<Answer<Agent>>;
}

/** Tries unregistered tools: form definitions of type `http` and `code`. */
export interface TrialControl {
  /** Returns the request; sends nothing, and opens no secret. */
  previewTool(tool: object, input: unknown): Promise<Answer<ToolRequest>>;
  /** Calls the tool once for a person: no further approval, but audited. */
  callTool(tool: object, input: unknown): Promise<Answer<ToolTrial>>;
  /** Returns what an imported document would add; imports nothing. */
  reviewDocument(data: unknown): Promise<Answer<AgentReview>>;
}

export interface AgentDocument extends Pick<CatalogExport, 'format' | 'formatVersion'> {
  readonly providers: readonly Provider[];
  readonly dataSources: readonly DataSource[];
  readonly mcpServers: readonly McpServer[];
  readonly tools: readonly ToolDefinition[];
  readonly agents: readonly Agent[];
}
