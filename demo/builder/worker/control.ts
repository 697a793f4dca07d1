/** What the page asks the worker about tools that are being made: what they would send, and what they answer. */

import type { Agent } from '../../../src/registry/index.ts';
import type { ErrorData } from '../../../src/base/errors.ts';
import type { Answer } from '../../registry/worker/control.ts';
import type { AgentDocument } from '../state/agent-file.ts';

/** An HTTP request as it would be sent. A secret stands in it by its name: `[secret lab-key]`. */
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
  /** What the code threw: a model is not told. */
  readonly thrown?: string;
}

/** A host, and what is sent to it. */
export interface NamedHost {
  readonly origin: string;
  /** What asks it: `HTTP tool weather`. */
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
  /** The names of all secrets. */
  readonly secrets: readonly string[];
  /** What was made stricter, in words. */
  readonly tamed: readonly string[];
}

/** What a variant of an agent has otherwise. */
export interface Variation {
  readonly instructions?: string;
  readonly providerId?: string;
  readonly model?: string;
}

/** Agents that are tried beside others. */
export interface VariantControl {
  /** Gives a variant of an agent, which runs as any other until the page goes, and stands in no registry. */
  varyAgent(agentId: string, variation: Variation): Promise<Answer<Agent>>;
}

/** Tries tools that stand in no registry yet: definitions as a form has them, of type `http` and `code`. */
export interface TrialControl {
  /** Gives the request; sends nothing, and opens no secret. */
  previewTool(tool: object, input: unknown): Promise<Answer<ToolRequest>>;
  /** Calls the tool once, as a person's own deed: what may change something goes without another approval, and into the audit. */
  callTool(tool: object, input: unknown): Promise<Answer<ToolTrial>>;
  /** Tells what a document from elsewhere would bring; takes nothing in. */
  reviewDocument(data: unknown): Promise<Answer<AgentReview>>;
}
