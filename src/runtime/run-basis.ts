/**
 * What a run was started from. Another instance continues the run by it; it is deleted with the run's end. With `keep: 'inputs'` it stays,
 * and forks and test cases are made of it.
 */

import type { Key } from '../base/key.ts';
import type { Principal } from '../base/principal.ts';
import type { Agent } from '../base/schema.ts';
import type { Change, Storage } from '../contracts/storage.ts';
import { runPrefix } from './run-record.ts';
import type { Limits } from './limits.ts';
import type { RunRequest } from './run-request.ts';
import type { LanguageModelV4Message } from '@ai-sdk/provider';
import type { Money } from '../base/record-fields.ts';
import { sha256OfText } from '../base/hash.ts';
import type { LiveRun } from './live-run.ts';
import type { LoopTerms, Resolution, RunContext, RunIdentity } from './run-context.ts';

/** The record. Secrets are in it by their names only. */
export interface RunBasis {
  readonly v: 1;
  readonly request: RunRequest;
  readonly agent: Agent;
  readonly providerId: string;
  readonly modelId: string;
  readonly toolSetDigest: string;
  readonly limits: Limits;
  /** The names of the tools that the first step offers; absent without discovery, where it offers all. */
  readonly active?: readonly string[];
  /** For whom it runs: never a token, a key or a signature. Absent in records of version 0.2. */
  readonly by?: Principal;
  /** Whether the agent has code, which an instance that continues the run needs. */
  readonly hasCode?: true;
  /** Whether its tools or its log are not those that its request says. */
  readonly isDerived?: true;
}

/** UTF-16 code units of one entry: a storage takes values of up to 4 MiB. */
const pieceLength = 524_288;

/**
 * Returns the changes that record the basis of a run, for the commit of its claim: the request as it came, without what its tools and
 * an earlier run add to it. A basis of several entries is large: all but the first are committed here, and awaited where forks need
 * them. No run waits for another round trip only to be continued.
 */
export async function recordBasis(
  { runtime: { storage, ttlMs, keep, agents }, runId, redaction, principal }: Pick<
    RunIdentity,
    'runtime' | 'runId' | 'redaction' | 'principal'
  >,
  { request, resolution, isDerived }: {
    readonly request: RunRequest;
    readonly resolution: Resolution;
    readonly isDerived: boolean;
  },
): Promise<readonly Change[]> {
  const { agent, provider, model: { modelId }, toolSet, limits, stepTools } = resolution;
  const isKept = keep === 'inputs';
  const active = stepTools.discovered();
  const basis: RunBasis = {
    v: 1,
    request,
    agent,
    providerId: provider.id,
    modelId,
    toolSetDigest: toolSet.digest,
    limits,
    ...(active && { active }),
    by: principal,
    ...(agents.has(agent.id) && { hasCode: true }),
    ...(isDerived && { isDerived }),
  };
  const text = redaction.text(JSON.stringify(basis));
  const count = Math.ceil(text.length / pieceLength);
  const piece = (n: number): Change => {
    const value = text.slice(n * pieceLength, (n + 1) * pieceLength);
    return { key: pieceKey(runId, n), value: n === 0 ? { count, text: value } : value, ttlMs };
  };
  for (let n = 1; n < count; n++) {
    const written = storage.commit([piece(n)]);
    if (isKept) await written;
    else written.catch(() => undefined); // then the run is not continued
  }
  return [piece(0)];
}

/** Reads the basis of a run; `undefined` where none was recorded, or it has expired. */
export async function readBasis(runId: string, storage: Pick<Storage, 'get'>): Promise<RunBasis | undefined> {
  const first = await storage.get(pieceKey(runId, 0));
  if (!first) return undefined;
  const { count, text } = first.value as { readonly count: number; readonly text: string }; // only `recordBasis` writes it
  const rest = await Promise.all(
    Array.from({ length: count - 1 }, async (_, n) => (await storage.get(pieceKey(runId, n + 1)))?.value),
  );
  if (rest.some((piece) => piece === undefined)) return undefined;
  return JSON.parse([text, ...rest].join('')) as RunBasis; // as above
}

/** The changes that delete it, as those of the claim say. */
export function deletion(recorded: readonly Change[]): readonly Change[] {
  const count = recorded.map(({ value }) => (value as { readonly count?: number }).count ?? 0).at(0) ?? 0; // as `piece` writes it
  return recorded.flatMap(({ key }) => Array.from({ length: count }, (_, n) => ({ key: [...key.slice(0, -1), n] })));
}

function pieceKey(runId: string, n: number): Key {
  return [...runPrefix(runId), 'basis', n];
}

/** The record of a step. */
export interface StepNote {
  /** The digest of the prompt that its model received, beside the request that the run was started from. */
  readonly prompt: string;
  /** Used before the step. */
  readonly tokens: number;
  readonly cost?: Money;
}

/** Returns the function that records each prompt of a run with the first chunk of its step. Steps count from 1. */
export function keepPrompts(
  { runtime: { ttlMs }, runId, resolution: { resumed }, request, redaction, usage }: RunContext,
  live: Pick<LiveRun, 'note'>,
): NonNullable<LoopTerms['onPrompt']> {
  const digestOf = promptDigests(request, (text) => redaction.text(text) === text);
  const before = resumed?.used; // what the steps of an earlier run have used
  return async (prompt, step) => {
    const cost = addCosts(before?.cost, usage.cost);
    const tokens = (before?.tokens ?? 0) + usage.totalTokens;
    const value: StepNote = { prompt: await digestOf(prompt), tokens, ...(cost && { cost }) };
    live.note({ key: [...runPrefix(runId), 'step', step], value, ttlMs });
  };
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
  return (await storage.get([...runPrefix(runId), 'step', step]))?.value as StepNote | undefined; // only `keepPrompts` writes it
}

type Prompt = readonly LanguageModelV4Message[];

/** A shorter text takes no longer to hash than to look up. */
const shortText = 64;

/**
 * Returns the function that digests the prompts of a run: SHA-256 of the prompt up to its last user message, then for each message
 * behind it SHA-256 of the digest before and the message. A text of the request is digested as its place there, because the record of
 * the run has the request as well: hashing a long chat again takes as long as a tenth of the run. `isRecorded` excludes texts that are
 * recorded differently.
 */
export function promptDigests(
  { chat: { messages } }: Pick<RunRequest, 'chat'>,
  isRecorded: (text: string) => boolean = () => true,
): (prompt: Prompt) => Promise<string> {
  const places = new Map<string, readonly [message: number, part: number]>();
  for (const [i, { parts }] of messages.entries()) {
    for (const [k, part] of parts.entries()) {
      if (part.type === 'text' && part.text.length >= shortText && isRecorded(part.text)) places.set(part.text, [i, k]);
    }
  }
  const place = (part: { readonly type: string; readonly text?: string }): unknown => {
    const found = part.text === undefined ? undefined : places.get(part.text);
    return found ? { ...part, text: found } : part;
  };
  // Not in canonical order: a fork makes its prompt of JSON texts, which keep the order of the keys.
  const textOf = (message: LanguageModelV4Message): string =>
    JSON.stringify(message.role === 'system' ? message : { ...message, content: message.content.map(place) });
  // The steps of a run send the same messages again.
  const links = new Map<LanguageModelV4Message, { readonly before: string; readonly digest: string }>();
  let start: { readonly messages: Prompt; readonly digest: string } = { messages: [], digest: '' };
  return async (prompt) => {
    const count = prompt.findLastIndex(({ role }) => role === 'user') + 1;
    const first = prompt.slice(0, count);
    if (start.messages.length !== count || first.some((message, i) => message !== start.messages[i])) {
      start = { messages: first, digest: await sha256OfText(first.map(textOf).join('\n')) };
    }
    let { digest } = start;
    for (const message of prompt.slice(count)) {
      const link = links.get(message);
      const before = digest;
      digest = link?.before === before ? link.digest : await sha256OfText(`${before}\n${textOf(message)}`);
      links.set(message, { before, digest });
    }
    return digest;
  };
}
