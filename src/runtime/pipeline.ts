/** Composes the Agents Worker. */

import { PinnaceError } from '../base/errors.ts';
import { requireScope } from '../base/principal.ts';
import { waitAtMost } from '../base/timer.ts';
import type { Plans } from '../contracts/plans.ts';
import type { AgentSteps } from '../contracts/steps.ts';
import { reportedHook } from '../events/reported-port.ts';
import { steadyStorage } from '../log/outage.ts';
import { createInterruptions } from '../permission/interruption.ts';
import { createSlots } from '../tools/run-scope.ts';
import { stepsOnUse } from './steps-on-use.ts';
import { storedFilesOnUse } from './attachments/stored-files-on-use.ts';
import { createChats } from './chats/chats.ts';
import { createLiveTexts } from '../tools/agent-tool.ts';
import { createRuns } from './log/runs.ts';
import { createGuard, createOperations, readRunAs } from './operations.ts';
import { contentOnUse } from './resolve/mcp-content-on-use.ts';
import { signInsOnUse } from './resolve/mcp-sign-ins-on-use.ts';
import { createReadiness } from './readiness.ts';
import { createRequestRefusals } from './request-refusals.ts';
import { createDismissal } from './resolve/dismissal.ts';
import { createResolver, type Resolver } from './resolve/resolver.ts';
import { paysBytes } from './budgets/budgets-on-use.ts';
import { createToolSets } from './resolve/tool-sets.ts';
import { createRunMethods } from './run-methods.ts';
import type { PipelineOptions, RuntimeParts } from './runtime-options.ts';
import type { HostedRuntime } from './runtime.ts';
import { createStartGate } from './start-gate.ts';
import { createWatching } from './watching.ts';

/** Creates the runtime over its ports. */
export function createPipeline<P extends Plans>(options: PipelineOptions<P>): HostedRuntime & { readonly plans: P } {
  const { metrics, report } = options;
  const authorize = reportedHook(options.authorize, report, 'authorize');
  const closing = new AbortController();
  let isClosed = false;
  const guarded = createGuard({ ...options, authorize });
  const { parts, steps, plans } = createParts(options, {
    closing: closing.signal,
    guard: guarded.guard,
    requireOpen() {
      if (isClosed) throw closed();
    },
  });
  metrics.gauge('pinnace_open_runs', () => parts.runs.open);
  return {
    ...createRunMethods(parts, guarded),
    ...createOperations(parts, guarded),
    ...createWatching(options, closing.signal),
    ...guarded,
    mcpSignIns: signInsOnUse(parts, guarded),
    ...parts.content,
    blobs: storedFilesOnUse(parts, guarded),
    chats: createChats(parts, guarded),
    budgets: async (principal) => {
      requireScope(principal, 'run:read');
      return await parts.budgets?.list(principal) ?? [];
    },
    pay: parts.budgets && paysBytes(parts.budgets),
    runs: parts.runs,
    steps,
    plans,
    metrics,
    authorize,
    report,
    refused: createRequestRefusals(options),
    ready: createReadiness({ ...options, isClosed: () => isClosed }),
    async close({ drainMs = 0 } = {}) {
      isClosed = true;
      if (drainMs > 0) await waitAtMost(drainMs, parts.runs.drained());
      await plans.close();
      closing.abort('runtime_closed');
      await closeParts(parts);
    },
  };
}

function createParts<P extends Plans>(
  options: PipelineOptions<P>,
  { guard, ...lifecycle }: Pick<RuntimeParts, 'closing' | 'requireOpen'> & Pick<HostedRuntime, 'guard'>,
): { readonly parts: RuntimeParts; readonly steps: AgentSteps; readonly plans: P } {
  const { storage, limits: { retentionMs, commitSpacingMs, storageGraceMs, totalMs, approvalMs }, now } = options;
  // Twice the retention: for half of it the run is expired, and its record still says that there was one.
  const ttlMs = totalMs + 2 * retentionMs;
  const runs = createRuns({
    ...options,
    readAs: readRunAs(guard),
    retentionMs,
    commitSpacingMs,
    storageGraceMs,
    ttlMs,
  });
  const resolver: Resolver = createResolver({ ...options, onAgentsChanged: (agentIds) => dismiss(agentIds) });
  const dismiss = createDismissal(runs, (agentId, tenant) => resolver.agent(agentId, { tenant, via: 'in-process' }));
  const liveTexts = createLiveTexts();
  const mcp = options.mcp((keys) => resolver.invalidate(keys));
  const shared = {
    ...options,
    ...lifecycle,
    mcp,
    storage: steadyStorage(storage, storageGraceMs),
    runs,
    resolver,
    interruptions: createInterruptions({ storage, now, validMs: approvalMs, graceMs: storageGraceMs }),
    slots: createSlots(),
    // An agent that is called as a tool works by a plan, whose agents may call agents: the one place where both meet.
    toolSetOf: createToolSets({ ...options, mcp, liveTexts, plans: () => plans }),
    content: contentOnUse((): RuntimeParts => parts),
    liveTexts,
    startGate: createStartGate(now),
    dismiss,
    ttlMs,
    answers: new Set<Promise<void>>(),
  };
  const steps = stepsOnUse(shared);
  const plans = options.plans(steps);
  const parts = { ...shared, plans };
  return { parts, steps, plans };
}

/** The last ends of an audit are awaited for this long: longer than one commit takes in a storage that answers at all. */
const auditMs = 15_000;

async function closeParts({ runs, resolver, recorder, answers, budgets }: RuntimeParts): Promise<void> {
  await runs.drained();
  await Promise.all(answers);
  await waitAtMost(auditMs, recorder.drained());
  await budgets?.close();
  runs.close();
  resolver.close();
}

function closed(): PinnaceError {
  return new PinnaceError('unavailable', 'Cannot go on: the runtime is closed', {
    details: { reason: 'runtime_closed' },
  });
}
