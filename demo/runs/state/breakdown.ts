/** Where a run's time and tokens went: to the model, to tools, and to waiting for either. */

import type { RunSpan, RunSpans } from './run-spans.ts';

/** How a time divides, in milliseconds. What a tool does while a model works counts as the model's. */
export interface TimeSplit {
  readonly modelMs: number;
  readonly toolMs: number;
  readonly waitMs: number;
  readonly totalMs: number;
}

/** What a run, or one step of it, has used. */
export interface Usage {
  readonly key: string;
  readonly name: string;
  readonly agentId: string;
  /** The address in its plan of the one who worked, as `1-2`. */
  readonly address?: string | undefined;
  readonly time: TimeSplit;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly modelCalls: number;
  readonly toolCalls: number;
  /** How many of its calls failed or were denied. */
  readonly failures: number;
  /** From the call of the first model to its first word. */
  readonly firstChunkMs?: number | undefined;
}

/** A run's usage, in all, step by step, and what of each prompt is from a cache. */
export interface Breakdown {
  readonly total: Usage;
  readonly steps: readonly Usage[];
  readonly prompts: readonly PromptUse[];
}

/** The input of a model call, in tokens. */
export interface PromptUse {
  /** The span of the call. */
  readonly key: string;
  readonly model: string;
  readonly input: number;
  /** What its provider has read from its cache; `undefined` where it does not say. */
  readonly cached: number | undefined;
  readonly written: number;
  /** About how much is unchanged since the call before, so that a cache could have it. */
  readonly cacheable: number;
  /** Where the beginning has changed. Without a reason it is a bug. */
  readonly break?: PromptBreak | undefined;
}

export interface PromptBreak {
  readonly reason: string | undefined;
  /** `tools`, `system` or `messages`. */
  readonly block: string;
  /** 0 for the tools; messages count from 1, instructions first. */
  readonly position: number;
  readonly lost: number;
}

export function breakdownOf({ roots, endMs }: RunSpans): Breakdown {
  const all = roots.flatMap(within);
  const run = all.find(({ kind }) => kind === 'run');
  const total = usageOf(all, { startMs: run?.startMs ?? 0, endMs }); // a plan goes on after its run
  const steps = all.filter(({ kind }) => kind === 'step').toSorted((a, b) => a.startMs - b.startMs);
  const addresses = addressesIn(all);
  return {
    total: { ...total, key: '', name: 'Whole run', agentId: run?.target.id ?? '' },
    steps: steps.map((step, i) => ({
      ...usageOf(within(step), step),
      key: step.key,
      name: `Step ${step.facts['step'] ?? i + 1}`,
      agentId: step.actor.id,
      address: addresses.get(step),
    })),
    prompts: roots.flatMap(promptsIn),
  };
}

/** A changed beginning is emitted before its call, in the same step. */
function promptsIn({ children }: RunSpan): readonly PromptUse[] {
  let broken: PromptBreak | undefined;
  return children.flatMap((span) => {
    if (span.name === 'prompt.break' || span.name === 'prompt.unexpected') broken = breakOf(span);
    if (span.kind !== 'model') return promptsIn(span);
    const own = { key: span.key, model: span.target.id, break: broken, ...tokensOf(span) };
    broken = undefined;
    return [own];
  });
}

function breakOf(span: RunSpan): PromptBreak {
  const { reason, block } = span.facts;
  return {
    reason: reason === undefined ? undefined : String(reason),
    block: String(block),
    position: numberOf(span, 'position') ?? 0,
    lost: numberOf(span, 'lostTokens') ?? 0,
  };
}

function tokensOf(span: RunSpan): Pick<PromptUse, 'input' | 'cached' | 'written' | 'cacheable'> {
  return {
    input: numberOf(span, 'inputTokens') ?? 0,
    cached: numberOf(span, 'cachedTokens'),
    written: numberOf(span, 'cacheWriteTokens') ?? 0,
    cacheable: numberOf(span, 'cacheableTokens') ?? 0,
  };
}

/** The span and all that is inside, with the deepest last. */
function within(span: RunSpan): RunSpan[] {
  const found = [span];
  for (const next of found) for (const child of next.children) found.push(child);
  return found;
}

/** Whose steps they are: those of an agent of a plan are right inside it. */
function addressesIn(spans: readonly RunSpan[]): ReadonlyMap<RunSpan, string> {
  return new Map(
    spans.flatMap(({ facts: { address }, children }) =>
      address === undefined ? [] : children.map((child) => [child, String(address)] as const)
    ),
  );
}

interface Extent {
  readonly startMs: number;
  readonly endMs: number;
}

function usageOf(spans: readonly RunSpan[], extent: Extent): Omit<Usage, 'key' | 'name' | 'agentId'> {
  const models = spans.filter(({ kind }) => kind === 'model');
  const tools = spans.filter(({ kind }) => kind === 'tool');
  const [first] = models;
  return {
    time: splitOf({ models, tools }, extent),
    inputTokens: sum(models, 'inputTokens'),
    outputTokens: sum(models, 'outputTokens'),
    modelCalls: models.length,
    toolCalls: tools.length,
    failures: [...models, ...tools].filter(({ status }) => status === 'error' || status === 'denied').length,
    firstChunkMs: first && numberOf(first, 'firstChunkMs'),
  };
}

function splitOf(
  { models, tools }: { readonly models: readonly Extent[]; readonly tools: readonly Extent[] },
  extent: Extent,
): TimeSplit {
  const modelMs = covered(models, extent);
  const toolMs = covered([...models, ...tools], extent) - modelMs;
  const totalMs = Math.max(0, extent.endMs - extent.startMs);
  return { modelMs, toolMs, waitMs: totalMs - modelMs - toolMs, totalMs };
}

/** How much of the extent at least one of them covers. */
function covered(spans: readonly Extent[], extent: Extent): number {
  let length = 0;
  let upTo = extent.startMs;
  for (const { startMs, endMs } of spans.toSorted((a, b) => a.startMs - b.startMs)) {
    const end = Math.min(endMs, extent.endMs);
    if (end <= upTo) continue;
    length += end - Math.max(startMs, upTo);
    upTo = end;
  }
  return length;
}

function sum(spans: readonly RunSpan[], name: string): number {
  return spans.reduce((all, span) => all + (numberOf(span, name) ?? 0), 0);
}

function numberOf({ facts }: RunSpan, name: string): number | undefined {
  const value = facts[name];
  return typeof value === 'number' ? value : undefined;
}
