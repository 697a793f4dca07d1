/** The Agents Worker, first to last: parse, resolve, assemble, run, stream. */

import type { UIMessageChunk } from '../ai-types.ts';
import { PinnaceError } from '../errors.ts';
import { createTraceId, type Emit } from '../events.ts';
import type { Authorize, Catalog, ModelSource, SecretSource } from '../ports.ts';
import type { Agent } from '../schema.ts';
import type { Tool } from '../tools/tool.ts';
import { assemble, type KnownTool, type ManifestEntry, type ToolSet } from './assemble.ts';
import { withContext } from './context.ts';
import { type Limits, narrow } from './limits.ts';
import { type Principal, requireScope } from './principal.ts';
import { resolve, resolveAgent } from './resolve.ts';
import { createRunAbort } from './run-abort.ts';
import { toModelMessages } from './run.ts';
import { parseRunRequest, type RunRequestInput } from './run-request.ts';
import { streamRun } from './stream-run.ts';

/** What the pipeline works with. */
export interface RuntimeOptions {
  readonly catalog: Catalog;
  readonly models: ModelSource;
  readonly secrets: SecretSource | undefined;
  readonly tools: readonly Tool[];
  readonly authorize: Authorize;
  readonly limits: Limits;
  readonly emit: Emit;
  readonly now: () => number;
}

/** A tool set as data. */
export interface Manifest {
  readonly agentId: string;
  readonly digest: string;
  readonly tools: readonly ManifestEntry[];
}

/** Runs agents. Make one with `createRuntime`. */
export interface Runtime {
  /**
   * Runs an agent on a chat and gives its stream. What is wrong before the first chunk rejects with a `PinnaceError`; after it,
   * the stream tells and ends. When the signal aborts, or the stream is cancelled, the model and the tools are stopped.
   */
  run(
    request: RunRequestInput,
    principal: Principal,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<ReadableStream<UIMessageChunk>>;
  /** The tools that an agent may use, and for each other known tool the one reason why not. */
  manifest(agentId: string, principal: Principal): Promise<Manifest>;
  /** Stops all runs; later ones are refused as `unavailable`. */
  close(): Promise<void>;
}

/** Gives the runtime over its ports. */
export function createPipeline(options: RuntimeOptions): Runtime {
  const closing = new AbortController();
  const toolSetOf = createToolSets(options);
  return {
    async run(input, principal, { signal } = {}) {
      requireScope(principal, 'run:create');
      requireOpen(closing.signal);
      const request = parseRunRequest(input, options.limits);
      requireScope(principal, 'run:create', request.agentId);
      const abort = createRunAbort([signal, closing.signal]);
      try {
        const { agent, model } = await resolve(request.agentId, { ...options, principal, signal: abort.signal });
        const toolSet = await toolSetOf(agent, abort.signal);
        const messages = withContext(await toModelMessages(request.chat.messages), request.context);
        const limits = narrow(options.limits, agent.limits, request.limits);
        const traceId = createTraceId();
        return streamRun({ ...options, agent, model, toolSet, messages, limits, request, principal, traceId, abort });
      } catch (error) {
        abort.release();
        throw error;
      }
    },
    async manifest(agentId, principal) {
      requireScope(principal, 'registry:read', agentId);
      requireOpen(closing.signal);
      const agent = await resolveAgent(agentId, { ...options, signal: closing.signal });
      return toManifest(agent.id, await toolSetOf(agent, closing.signal));
    },
    async close() {
      closing.abort('runtime_closed');
    },
  };
}

function requireOpen(closing: AbortSignal): void {
  if (closing.aborted) {
    throw new PinnaceError('unavailable', 'Cannot go on: the runtime is closed', {
      details: { reason: 'runtime_closed' },
    });
  }
}

/** Assembles tool sets, each once for as long as neither the agent nor the known tools have changed. */
function createToolSets(options: RuntimeOptions): (agent: Agent, signal: AbortSignal) => Promise<ToolSet> {
  const listKnown = createKnownTools(options);
  const sets = new WeakMap<Agent, { known: readonly KnownTool[]; toolSet: ToolSet }>();
  return async (agent, signal) => {
    const known = await listKnown(signal);
    const last = sets.get(agent);
    if (last?.known === known) return last.toolSet;
    const toolSet = await assemble(agent, known);
    sets.set(agent, { known, toolSet });
    return toolSet;
  };
}

/** All tools that there are: those of the composition, and those that only the catalog knows. */
function createKnownTools({ tools, catalog }: RuntimeOptions): (signal: AbortSignal) => Promise<readonly KnownTool[]> {
  const composed = tools.map((tool): KnownTool => ({ definition: tool.definition, tool }));
  const ids = new Set(composed.map(({ definition }) => definition.id));
  return async (signal) => {
    const listed: KnownTool[] = [];
    const limit = 1000;
    for (let after: string | undefined, page; page === undefined || page.length === limit;) {
      page = await catalog.listTools({ limit, ...(after !== undefined && { after }) }, signal);
      after = page.at(-1)?.id;
      for (const definition of page) if (!ids.has(definition.id)) listed.push({ definition });
    }
    return listed.length === 0 ? composed : [...composed, ...listed];
  };
}

function toManifest(agentId: string, { digest, entries }: ToolSet): Manifest {
  return { agentId, digest, tools: entries };
}
