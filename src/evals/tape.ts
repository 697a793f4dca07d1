/** Tapes: what models have said, by what they were sent. */

import { checkNames, optional } from '../base/check-options.ts';
import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { PinnaceError } from '../base/errors.ts';
import { sha256, sha256Sync } from '../base/hash.ts';
import { isRecord } from '../base/is-record.ts';
import { canonicalJson } from '../base/json.ts';
import { loadOnce } from '../base/load-once.ts';
import type { Secret } from '../base/secret.ts';
import type { LanguageModel } from '../contracts/ai-types.ts';
import type { ModelSource } from '../contracts/model-source.ts';
import type { Storage } from '../contracts/storage.ts';
import { fromJsonLines, toJsonLines } from './eval-case.ts';

/** One recorded answer. */
export interface TapeEntry {
  /** SHA-256 of the canonical request. */
  readonly key: string;
  /** From 0: the same request may be answered differently each time. */
  readonly nth: number;
  /** A digest of each value of the request by its JSON pointer: says where another request differs, and nothing of its text. */
  readonly leaves: Readonly<Record<string, string>>;
  /** The parts of the model's stream. */
  readonly parts: readonly unknown[];
  readonly firstMs: number;
  readonly ms: number;
}

/** Where answers are recorded. */
export interface Tape {
  get(key: string, nth: number): Promise<TapeEntry | undefined>;
  put(entry: TapeEntry): Promise<void>;
  /** All entries, to explain a miss. */
  entries(): Promise<readonly TapeEntry[]>;
}

/** A tape in memory, which is written and read as lines of JSON. */
export interface TextTape extends Tape {
  toText(): string;
}

/**
 * Creates a tape in memory with the entries of a JSONL file.
 *
 * @example
 * const tape = textTape(await readFile('tape.jsonl', 'utf8'));
 * // … record …
 * await writeFile('tape.jsonl', tape.toText());
 */
export function textTape(text = ''): TextTape {
  const entries = new Map(fromJsonLines<TapeEntry>(text).map((entry) => [`${entry.key} ${entry.nth}`, entry]));
  return {
    get: (key, nth) => Promise.resolve(entries.get(`${key} ${nth}`)),
    put(entry) {
      entries.set(`${entry.key} ${entry.nth}`, entry);
      return Promise.resolve();
    },
    entries: () => Promise.resolve([...entries.values()]),
    toText: () => toJsonLines([...entries.values()]),
  };
}

/** Creates a tape in a storage, as `indexedDbStorage` in a page. At most 1,000 entries of it explain a miss. */
export function storageTape(storage: Storage, name: string): Tape {
  return {
    get: async (key, nth) => (await storage.get(['tape', name, key, nth]))?.value as TapeEntry | undefined, // `put` writes it
    async put(entry) {
      await storage.commit([{ key: ['tape', name, entry.key, entry.nth], value: entry }]);
    },
    entries: async () =>
      (await storage.list({ prefix: ['tape', name], limit: 1000 })).map(({ value }) => value as TapeEntry), // as above
  };
}

/** How a tape is used. */
export interface RecordedOptions {
  /** `replay` calls no model; `record` calls each; `auto` calls those that the tape does not have. Default: `replay`. */
  readonly mode?: 'replay' | 'record' | 'auto';
  /** The models to record; not needed to replay. They must be of the specification v4. */
  readonly models?: ModelSource;
}

/** A model source over a tape. */
export interface RecordedModels extends ModelSource {
  /** How many calls the tape did not have. */
  readonly misses: number;
}

/**
 * Returns a model source over a tape. Headers and credentials are neither part of a key nor recorded.
 *
 * A call that the tape does not have fails with `not_found`, reason `tape_miss`; `details.pointer` is where it first differs from the
 * nearest recorded call.
 *
 * @example
 * const models = recorded(tape, { mode: 'auto', models: modelSource() });
 */
export function recorded(tape: Tape, given: RecordedOptions = {}): RecordedModels {
  checkNames('record models', given, optional('mode', 'models'));
  const { mode = 'replay', models } = given;
  const counts = new Map<string, number>();
  let misses = 0;
  const find = async (options: LanguageModelV4CallOptions) => {
    const sent = requestOf(options);
    const key = await sha256(canonicalJson(sent));
    const nth = counts.get(key) ?? 0;
    counts.set(key, nth + 1);
    const entry = mode === 'record' ? undefined : await tape.get(key, nth) ?? await tape.get(key, 0);
    return { sent, key, nth, entry };
  };
  return {
    get misses() {
      return misses;
    },
    model(provider, secret) {
      const inner = mode === 'replay' ? undefined : models?.model(provider, secret);
      const doStream: LanguageModel['doStream'] = async (options) => {
        const { sent, key, nth, entry } = await find(options);
        if (entry) return { stream: streamOf(entry.parts) };
        misses++;
        if (!inner) throw await missOf(sent, tape);
        requireV4(inner);
        const { stream } = await inner.doStream(options);
        return { stream: taped(stream, { tape, secret, facts: { key, nth, leaves: leavesOf(sent) } }) };
      };
      return {
        specificationVersion: 'v4',
        provider: provider.id,
        modelId: provider.model ?? 'recorded',
        supportedUrls: {},
        doStream,
        doGenerate: () => Promise.reject(new PinnaceError('internal', 'Cannot generate from a tape: stream instead')),
      };
    },
  };
}

function requireV4(model: ReturnType<ModelSource['model']>): asserts model is LanguageModel {
  if (model.specificationVersion === 'v4') return;
  throw new PinnaceError('invalid_argument', 'Cannot record the model: it must be of the specification v4');
}

/** What decides on an answer: without headers and signals. */
function requestOf(options: LanguageModelV4CallOptions): unknown {
  const { prompt, tools, toolChoice, responseFormat, headers: _, abortSignal: __, includeRawChunks: ___, ...settings } =
    options;
  const text = JSON.stringify({ prompt, tools, toolChoice, responseFormat, settings });
  return JSON.parse(text);
}

function streamOf(parts: readonly unknown[]): ReadableStream<LanguageModelV4StreamPart> {
  let at = 0;
  return new ReadableStream<LanguageModelV4StreamPart>({
    pull(controller) {
      if (at < parts.length) controller.enqueue(structuredClone(parts[at++]) as LanguageModelV4StreamPart); // `taped` wrote it
      else controller.close();
    },
  });
}

/** Records a stream that ends well: one that breaks is no answer. */
function taped(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  { tape, secret, facts }: {
    readonly tape: Tape;
    readonly secret: Secret | undefined;
    readonly facts: Pick<TapeEntry, 'key' | 'nth' | 'leaves'>;
  },
): ReadableStream<LanguageModelV4StreamPart> {
  const started = performance.now();
  const parts: LanguageModelV4StreamPart[] = [];
  let firstMs = 0;
  const isWhole = (): boolean => parts.at(-1)?.type === 'finish' && parts.every(({ type }) => type !== 'error');
  return stream.pipeThrough(
    new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
      transform(part, controller) {
        if (parts.length === 0) firstMs = Math.round(performance.now() - started);
        if (part.type !== 'raw' && part.type !== 'response-metadata') parts.push(part);
        controller.enqueue(part);
      },
      async flush() {
        if (!isWhole()) return;
        const text = JSON.stringify(parts);
        const safe = secret ? await withoutSecret(text, secret) : text;
        const ms = Math.round(performance.now() - started);
        await tape.put({ ...facts, parts: JSON.parse(safe) as unknown[], firstMs, ms });
      },
    }),
  );
}

const loadRedactor = /* @__PURE__ */ loadOnce(() => import('../permission/redaction/redactor.ts'));

async function withoutSecret(text: string, secret: Secret): Promise<string> {
  const { createRedactor } = await loadRedactor(); // not needed to replay
  return createRedactor([{ id: secret.id, value: secret.reveal() }]).text(text);
}

/** Values of a request beyond these do not explain a miss. */
const mostLeaves = 2_000;

function leavesOf(value: unknown, pointer = '', leaves: Record<string, string> = {}): Record<string, string> {
  if (Object.keys(leaves).length >= mostLeaves) return leaves;
  if (Array.isArray(value)) value.forEach((item, i) => leavesOf(item, `${pointer}/${i}`, leaves));
  else if (isRecord(value)) {
    for (const name of Object.keys(value)) {
      leavesOf(value[name], `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, leaves);
    }
  } else leaves[pointer] = sha256Sync(JSON.stringify(value) ?? '').slice(0, 8);
  return leaves;
}

async function missOf(sent: unknown, tape: Tape): Promise<PinnaceError> {
  const leaves = Object.entries(leavesOf(sent));
  let [longest, pointer] = [-1, ''];
  for (const entry of await tape.entries()) {
    const at = leaves.findIndex(([name, digest]) => entry.leaves[name] !== digest);
    if (at < 0 || at <= longest) continue;
    [longest, pointer] = [at, leaves[at]?.[0] ?? ''];
  }
  return new PinnaceError('not_found', 'Cannot answer from the tape: it has no such call; record it again', {
    details: { reason: 'tape_miss', pointer },
  });
}
