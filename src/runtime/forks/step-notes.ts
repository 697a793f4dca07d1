/** What `keep: 'inputs'` records of each step: a digest of its prompt, and what the run had used before it. */

import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { sha256 } from '../../base/hash.ts';
import { canonicalJson } from '../../base/json.ts';
import type { Money } from '../../base/record-fields.ts';
import { sha256Sync } from '../../base/sha256-sync.ts';
import type { Change, Storage } from '../../contracts/storage.ts';
import { runPrefix } from '../log/run-record.ts';
import type { ResumedRun } from './resumed-run.ts';
import type { Usage } from '../loop/loop-options.ts';

/** The record of a step. */
export interface StepNote {
  /** The digest of the prompt that its model received. */
  readonly prompt: string;
  /** Used before the step. */
  readonly tokens: number;
  readonly cost?: Money;
}

/** Returns the change that records a step, from 1 on. */
export async function stepNote(
  runId: string,
  { step, prompt, usage, before, ttlMs }: {
    readonly step: number;
    readonly prompt: readonly LanguageModelV4Message[];
    readonly usage: Pick<Usage, 'totalTokens' | 'cost'>;
    /** What the steps of an earlier run have used. */
    readonly before: ResumedRun['used'] | undefined;
    readonly ttlMs: number;
  },
): Promise<Change> {
  const cost = addCosts(before?.cost, usage.cost);
  const tokens = (before?.tokens ?? 0) + usage.totalTokens;
  const value: StepNote = { prompt: await promptDigest(prompt), tokens, ...(cost && { cost }) };
  return { key: [...runPrefix(runId), 'step', step], value, ttlMs };
}

function addCosts(before: Money | undefined, own: Money | undefined): Money | undefined {
  if (!before || !own) return own ?? before;
  return before.currency === own.currency ? { ...own, amount: before.amount + own.amount } : undefined;
}

/** Reads the record of a step. */
export async function readStepNote(
  runId: string,
  step: number,
  storage: Pick<Storage, 'get'>,
): Promise<StepNote | undefined> {
  return (await storage.get([...runPrefix(runId), 'step', step]))?.value as StepNote | undefined; // only `stepNote` writes it
}

type Prompt = readonly LanguageModelV4Message[];

/** The steps of a run send the same messages again, so each is digested once. */
const digests = new WeakMap<LanguageModelV4Message, string>();
/** The starts of prompts by their last message. */
const starts = new WeakMap<LanguageModelV4Message, { readonly start: Prompt; readonly digest: string }>();

/** Longer texts, as files, are hashed without blocking. */
const longest = 65_536;

/**
 * SHA-256 over digests: that of the prompt up to its last user message, and those of each message behind it, in canonical JSON. A long
 * chat is hashed once, by the platform: in JavaScript it takes ten times as long.
 */
export async function promptDigest(prompt: Prompt): Promise<string> {
  const count = prompt.findLastIndex(({ role }) => role === 'user') + 1;
  const parts = [await startDigest(prompt.slice(0, count))];
  for (const message of prompt.slice(count)) {
    const known = digests.get(message) ?? await digestOf(message);
    digests.set(message, known);
    parts.push(known);
  }
  return sha256Sync(parts.join('\n'));
}

async function startDigest(start: Prompt): Promise<string> {
  const last = start.at(-1);
  const known = last && starts.get(last);
  if (known?.start.length === start.length && known.start.every((message, i) => message === start[i])) {
    return known.digest;
  }
  const digest = await sha256(canonicalJson(start));
  if (last) starts.set(last, { start, digest });
  return digest;
}

function digestOf(message: LanguageModelV4Message): string | Promise<string> {
  const text = canonicalJson(message);
  return text.length > longest ? sha256(text) : sha256Sync(text);
}
