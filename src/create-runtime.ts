/** Composes a runtime: the one file that knows every room. */

import { PinnaceError } from './errors.ts';
import { createEmit } from './events.ts';
import type { Authorize, Catalog, EventSink, ModelSource, SecretSource } from './ports.ts';
import { defaultLimits, type Limits } from './runtime/limits.ts';
import { createPipeline, type Runtime } from './runtime/runtime.ts';
import type { Tool } from './tools/tool.ts';

/** What a runtime is composed of. */
export interface CreateRuntimeOptions {
  readonly catalog: Catalog;
  readonly models: ModelSource;
  readonly secrets?: SecretSource;
  /** Tools given as code. Agents use those that their allowlist names. */
  readonly tools?: readonly Tool[];
  readonly sinks?: readonly EventSink[];
  /** Is asked before every tool call; the default allows what the agent's tool set holds. */
  readonly authorize?: Authorize;
  readonly limits?: Partial<Limits>;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/**
 * Gives a runtime. It holds no connection and no timer between runs.
 *
 * @throws PinnaceError `invalid_argument` when two tools share an id.
 * @example
 * const runtime = createRuntime({ catalog: staticCatalog({ agents, providers }), models: modelSource(), tools: [add] });
 * const stream = await runtime.run({ agentId: 'helper', chat: { id: 'c1', messages } }, localPrincipal());
 */
export function createRuntime(options: CreateRuntimeOptions): Runtime {
  const { catalog, models, secrets, tools = [], sinks = [], now = Date.now } = options;
  return createPipeline({
    catalog,
    models,
    secrets,
    tools: distinct(tools),
    authorize: options.authorize ?? (() => ({ decision: 'allow' })),
    limits: { ...defaultLimits, ...options.limits },
    emit: createEmit({ sinks, now }),
    now,
  });
}

function distinct(tools: readonly Tool[]): readonly Tool[] {
  const ids = new Set<string>();
  for (const { definition: { id } } of tools) {
    if (ids.has(id)) {
      throw new PinnaceError('invalid_argument', `Cannot compose the runtime: two tools have the id "${id}"`);
    }
    ids.add(id);
  }
  return tools;
}
