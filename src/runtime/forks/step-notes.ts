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

/** The steps of a run send the same messages again, so each is digested once. */
const digests = new WeakMap<LanguageModelV4Message, string>();

/** Longer texts, as files, are hashed without blocking. */
const longest = 65_536;

/** SHA-256 over the digests of the prompt's messages in canonical JSON. */
export async function promptDigest(prompt: readonly LanguageModelV4Message[]): Promise<string> {
  const parts: string[] = [];
  for (const message of prompt) {
    const known = digests.get(message) ?? await digestOf(message);
    digests.set(message, known);
    parts.push(known);
  }
  return sha256Sync(parts.join('\n'));
}

function digestOf(message: LanguageModelV4Message): string | Promise<string> {
  const text = canonicalJson(message);
  return text.length > longest ? sha256(text) : sha256Sync(text);
}
