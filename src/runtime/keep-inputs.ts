/** Records the inputs of a run where the composition has `keep: 'inputs'`. Its code is loaded then. */

import { loadOnce } from '../base/load-once.ts';
import type { Change } from '../contracts/storage.ts';
import type { LiveRun } from './live-run.ts';
import type { LoopTerms, Resolution, RunContext, RunIdentity } from './run-context.ts';
import type { RunRequest } from './run-request.ts';
import type { stepNotes } from './run-basis.ts';

const loadBasis = /* @__PURE__ */ loadOnce(() => import('./run-basis.ts'));
const loadNotes = /* @__PURE__ */ loadOnce(() => import('./run-basis.ts'));

/**
 * Returns the changes that record the basis of a run, for the commit of its claim: the request as it came, without what its tools and
 * an earlier run add to it. A basis of several entries is large: all but the first are committed here.
 */
export async function keepBasis(
  { runtime: { keep, storage, ttlMs }, runId, redaction }: Pick<RunIdentity, 'runtime' | 'runId' | 'redaction'>,
  { request, resolution }: { readonly request: RunRequest; readonly resolution: Resolution },
): Promise<readonly Change[]> {
  const { agent, provider, model: { modelId }, toolSet, limits, stepTools, plan } = resolution;
  if (keep !== 'inputs' || plan) return [];
  const [{ basisChanges }, active] = await Promise.all([loadBasis(), stepTools.discovered()]);
  const facts = { request, agent, providerId: provider.id, modelId, toolSetDigest: toolSet.digest, limits };
  const redact = (text: string): string => redaction.text(text);
  const [first, ...rest] = basisChanges(runId, { v: 1, ...facts, ...(active && { active }) }, { redact, ttlMs });
  for (const change of rest) await storage.commit([change]);
  return [first];
}

/** Returns the function that records each prompt with the first chunk of its step. */
export function keepPrompts(
  { runtime: { keep, ttlMs }, runId, resolution: { resumed }, request, redaction, usage }: RunContext,
  live: Pick<LiveRun, 'note'>,
): LoopTerms['onPrompt'] {
  if (keep !== 'inputs') return undefined;
  let noteOf: ReturnType<typeof stepNotes> | undefined;
  return async (prompt, step) => {
    noteOf ??= (await loadNotes()).stepNotes({ runId, ttlMs, resumed, request, redaction });
    live.note(await noteOf({ prompt, step, usage }));
  };
}
