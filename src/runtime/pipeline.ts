/** Composes the Agents Worker. */

import { PinnaceError } from '../base/errors.ts';
import { steadyStorage } from '../log/outage.ts';
import { createInterruptions } from '../permission/interruption.ts';
import { createSlots } from '../tools/slots.ts';
import { createAgentSteps } from './agent-steps.ts';
import { createLiveTexts } from './calls/live-texts.ts';
import { createRuns } from './log/runs.ts';
import { createGuard, createOperations, within } from './operations.ts';
import { createReadiness } from './readiness.ts';
import { createRequestRefusals } from './request-refusals.ts';
import { createDismissal } from './resolve/dismissal.ts';
import { createResolver, type Resolver } from './resolve/resolver.ts';
import { createToolSets } from './resolve/tool-sets.ts';
import { createRunMethods } from './run-methods.ts';
import type { RuntimeOptions, RuntimeParts } from './runtime-options.ts';
import type { HostedRuntime } from './runtime.ts';
import { createWatching } from './watching.ts';

/** Creates the runtime over its ports. */
export function createPipeline(options: RuntimeOptions): HostedRuntime {
  const { metrics, authorize } = options;
  const closing = new AbortController();
  let isClosed = false;
  const parts = createParts(options, {
    closing: closing.signal,
    requireOpen() {
      if (isClosed) throw closed();
    },
  });
  const guarded = createGuard(options);
  metrics.gauge('pinnace_open_runs', () => parts.runs.open);
  return {
    ...createRunMethods(parts, guarded),
    ...createOperations(parts, guarded),
    ...createWatching(options, closing.signal),
    ...guarded,
    runs: parts.runs,
    steps: createAgentSteps(parts),
    metrics,
    authorize,
    refused: createRequestRefusals(options),
    ready: createReadiness({ ...options, isClosed: () => isClosed }),
    async close({ drainMs = 0 } = {}) {
      isClosed = true;
      if (drainMs > 0) await within(drainMs, parts.runs.drained());
      await options.plans?.close();
      closing.abort('runtime_closed');
      await closeParts(parts);
    },
  };
}

function createParts(
  options: RuntimeOptions,
  lifecycle: Pick<RuntimeParts, 'closing' | 'requireOpen'>,
): RuntimeParts {
  const { storage, limits: { retentionMs, commitSpacingMs, storageGraceMs, totalMs, approvalMs }, now } = options;
  // Twice the retention: for half of it the run is expired, and its record still says that there was one.
  const ttlMs = totalMs + 2 * retentionMs;
  const runs = createRuns({ ...options, retentionMs, commitSpacingMs, storageGraceMs, ttlMs });
  const resolver: Resolver = createResolver({ ...options, onAgentsChanged: (agentIds) => dismiss(agentIds) });
  const dismiss = createDismissal(runs, (agentId, tenant) => resolver.agent(agentId, { tenant, via: 'in-process' }));
  const liveTexts = createLiveTexts();
  return {
    ...options,
    ...lifecycle,
    storage: steadyStorage(storage, storageGraceMs),
    runs,
    resolver,
    interruptions: createInterruptions({ storage, now, validMs: approvalMs, graceMs: storageGraceMs }),
    slots: createSlots(),
    toolSetOf: createToolSets({ ...options, liveTexts }),
    liveTexts,
    dismiss,
    ttlMs,
  };
}

/** The last ends of an audit are awaited for this long: longer than one commit takes in a storage that answers at all. */
const auditMs = 15_000;

async function closeParts({ runs, resolver, recorder }: RuntimeParts): Promise<void> {
  await runs.drained();
  await within(auditMs, recorder.drained());
  runs.close();
  resolver.close();
}

function closed(): PinnaceError {
  return new PinnaceError('unavailable', 'Cannot go on: the runtime is closed', {
    details: { reason: 'runtime_closed' },
  });
}
