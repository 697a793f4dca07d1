/** Records the inputs of a run where the composition has `keep: 'inputs'`. Its code is loaded then. */

import { loadOnce } from '../../base/load-once.ts';
import type { Change } from '../../contracts/storage.ts';
import type { LiveRun } from '../live-run.ts';
import type { LoopOptions } from '../loop-options.ts';
import type { ResolvedRun, RunIdentity, RunOptions } from '../run-options.ts';
import type { RuntimeParts } from '../runtime-options.ts';
import type { stepNotes } from './step-notes.ts';
import type { Usage } from '../model-budget.ts';

const loadBasis = /* @__PURE__ */ loadOnce(() => import('./basis.ts'));
const loadNotes = /* @__PURE__ */ loadOnce(() => import('./step-notes.ts'));

/**
 * Returns the changes that record the basis of a run, for the commit of its claim. A basis of several entries is large: all but the
 * first are committed here.
 */
export async function keepBasis(
  { keep, storage, ttlMs }: Pick<RuntimeParts, 'keep' | 'storage' | 'ttlMs'>,
  run: ResolvedRun & Pick<RunIdentity, 'runId' | 'redaction'>,
): Promise<readonly Change[]> {
  if (keep !== 'inputs' || run.plan) return [];
  const { runId, request, agent, provider, model: { modelId }, toolSet, limits, stepTools, redaction } = run;
  const [{ basisChanges }, active] = await Promise.all([loadBasis(), stepTools.discovered()]);
  const facts = { request, agent, providerId: provider.id, modelId, toolSetDigest: toolSet.digest, limits };
  const redact = (text: string): string => redaction.text(text);
  const [first, ...rest] = basisChanges(runId, { v: 1, ...facts, ...(active && { active }) }, { redact, ttlMs });
  for (const change of rest) await storage.commit([change]);
  return [first];
}

/** Returns the function that records each prompt with the first chunk of its step. */
export function keepPrompts(
  options: Pick<RunOptions, 'keep' | 'runId' | 'ttlMs' | 'resumed' | 'request' | 'redaction'>,
  { live, usage }: { readonly live: Pick<LiveRun, 'note'>; readonly usage: Usage },
): LoopOptions['onPrompt'] {
  if (options.keep !== 'inputs') return undefined;
  let noteOf: ReturnType<typeof stepNotes> | undefined;
  return async (prompt, step) => {
    noteOf ??= (await loadNotes()).stepNotes(options);
    live.note(await noteOf({ prompt, step, usage }));
  };
}
