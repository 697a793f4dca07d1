/** Fills a data source with files: piece by piece, with progress, and resumable. */

import { checkNames, optional } from '../../base/check-options.ts';
import { type ErrorData, PinnaceError, toData } from '../../base/errors.ts';
import type { Storage } from '../../contracts/storage.ts';
import type { GroundingCallOptions } from '../access.ts';
import { writeOwner } from '../access.ts';
import { sha256 } from '../../base/hash.ts';
import type { Grounding } from '../create-grounding.ts';
import { createTurns } from '../../base/turns.ts';
import type { RememberInput } from '../request.ts';
import { mostText, type Piece, TextBudget } from './pieces.ts';
import { readerOf } from './read-file.ts';

/** A file to be read. */
export interface IngestFile {
  /** With its ending, which says how it is read. Names it in what is found, and in the next ingestion. */
  readonly name: string;
  /** Its media type, where the name says nothing. */
  readonly type?: string;
  /** Where it can be opened; its name when absent. */
  readonly uri?: string;
  /** Its text; of office files and PDF what `fileText` of `pinnace/grounding/file-text` returns. */
  readonly text: (signal: AbortSignal | undefined) => string | Promise<string>;
}

/** What is known of one file. */
export interface IngestProgress {
  readonly file: string;
  /** `unchanged`: the same content was ingested before. `failed`: why is in `error`; a file without text has the reason `no_text`. */
  readonly state: 'reading' | 'writing' | 'done' | 'unchanged' | 'failed';
  readonly done: number;
  readonly total: number;
  /** Pieces that the data source refused. `error` says why it refused the first one, and the others are written. */
  readonly refused?: number;
  readonly error?: ErrorData;
}

/** What became of all files. */
export interface IngestReport {
  readonly files: readonly IngestProgress[];
  /** Pieces that were written. */
  readonly written: number;
}

/** What is ingested, and where. */
export interface IngestOptions {
  /** The source that receives the files. */
  readonly dataSourceId: string;
  /** The files to add. */
  readonly files: readonly IngestFile[];
  /** Where it is noted how far a file has come. */
  readonly storage: Storage;
  /** About how long a piece is, in characters; 1,200 when absent. */
  readonly pieceLength?: number;
  /** Receives the progress. */
  readonly onProgress?: (progress: IngestProgress) => void;
}

interface Mark {
  readonly hash: string;
  readonly done: number;
  readonly total: number;
  /** Pieces of an earlier content that may still be there. */
  readonly former: number;
  readonly ids?: 'hashed';
}

/** Pieces in one call: what is lost at most when it is cut off. */
const perCall = 50;

/**
 * Reads the files and remembers their pieces. A file whose content was ingested is skipped, a started one continues after
 * the last recorded piece, and the missing pieces of a changed one are deleted. A file that cannot be read, or has no text,
 * is reported as failed, a piece that the source refuses is counted, and all others continue. Rights are those of `remember` and
 * `forget`.
 *
 * @throws PinnaceError `invalid_argument` for a source per subject, what the data source throws, and `cancelled` with the signal; calling again continues from there.
 */
export async function ingest(
  grounding: Grounding,
  options: IngestOptions,
  call: GroundingCallOptions = {},
): Promise<IngestReport> {
  checkNames('ingest files', options, optional('dataSourceId', 'files', 'storage', 'pieceLength', 'onProgress'));
  requireShared(grounding, options.dataSourceId);
  for (const { name, text } of options.files) {
    if (typeof text !== 'function') throw wrongText(name);
  }
  const files: IngestProgress[] = [];
  let written = 0;
  for (const file of options.files) {
    if (call.signal?.aborted) throw new PinnaceError('cancelled', 'The ingestion was stopped');
    const { progress, count } = await ingestFile(file, { grounding, options, call });
    files.push(progress);
    written += count;
  }
  return { files, written };
}

function wrongText(name: string): PinnaceError {
  const message = `Cannot ingest ${
    JSON.stringify(name)
  }: "text" must be a function that returns its text, such as () => text`;
  return new PinnaceError('invalid_argument', message, { details: { reason: 'wrong_argument', field: 'text' } });
}

/** A memory of persons has no files: what is noted of them would outlive the person's data. */
function requireShared({ sources }: Grounding, dataSourceId: string): void {
  if (sources.find(({ id }) => id === dataSourceId)?.scope !== 'subject') return;
  throw new PinnaceError('invalid_argument', 'Cannot ingest files into a source per subject: use "remember"', {
    details: { reason: 'source_per_subject' },
  });
}

/**
 * Removes what `ingest` has made of a file, and what it has noted: the same file can then be ingested again. Returns how many pieces
 * there were. Rights are those of `forget`.
 */
export async function forgetFile(
  grounding: Grounding,
  options: Pick<IngestOptions, 'dataSourceId' | 'storage'> & { readonly name: string },
  call: GroundingCallOptions = {},
): Promise<number> {
  checkNames('forget a file', options, optional('dataSourceId', 'storage', 'name'));
  const { storage, name } = options;
  const circumstances = { grounding, options, call };
  const mark = await readMark(name, circumstances);
  const base = await idBase(name);
  const from = mark?.ids === undefined && base !== name ? 0 : Math.max(mark?.total ?? 0, mark?.former ?? 0);
  let forgotten = await forgetPieces({ base, from: 0, to: from, circumstances });
  if (from === 0) forgotten += await forgetByName(name, circumstances);
  await storage.commit([{ key: await markKey(name, circumstances) }]);
  return forgotten;
}

interface Circumstances {
  readonly grounding: Grounding;
  readonly options: Pick<IngestOptions, 'dataSourceId' | 'storage' | 'pieceLength' | 'onProgress'>;
  readonly call: GroundingCallOptions;
}

async function ingestFile(file: IngestFile, circumstances: Circumstances) {
  const { onProgress, pieceLength = 1_200 } = circumstances.options;
  const report = (state: IngestProgress['state'], done: number, more: Partial<IngestProgress> = {}): IngestProgress => {
    const progress = { file: file.name, state, done, total: done, ...more };
    onProgress?.(progress);
    return progress;
  };
  report('reading', 0);
  const read = await readPieces(file, pieceLength, circumstances.call);
  if ('error' in read) return { progress: report('failed', 0, { error: read.error }), count: 0 };
  const { pieces, hash } = read;
  const total = pieces.length;
  const { start, former, isKnown } = await placeIn({ file, hash, total, circumstances });
  if (isKnown && total > 0) return { progress: report('unchanged', total), count: 0 };
  const refused = { count: 0, error: undefined as ErrorData | undefined };
  for (let done = start; done < total; done += perCall) {
    report('writing', done, { total });
    const items = await toItems(file, pieces.slice(done, done + perCall), { from: done, circumstances });
    await rememberEach(items, { circumstances, refused });
    await writeMark(file.name, { hash, done: Math.min(total, done + perCall), total, former }, circumstances);
  }
  await forgetPieces({ base: await idBase(file.name), from: total, to: former, circumstances });
  await writeMark(file.name, { hash, done: total, total, former: 0 }, circumstances);
  if (total === 0) return { progress: report('failed', 0, { error: toData(noText()) }), count: 0 };
  const { count, error } = refused;
  const more = { ...(count > 0 && { refused: count }), ...(error && { error }) };
  if (count === total) return { progress: report('failed', 0, { ...more, total }), count: 0 };
  return { progress: report('done', total, more), count: total - start - count };
}

/** An error of one file is reported for that file only. */
async function readPieces(file: IngestFile, length: number, { signal }: GroundingCallOptions) {
  try {
    const read = readerOf(file.name, file.type);
    const text = (await file.text(signal)).replace(/^\uFEFF/, '').toWellFormed();
    // What is read as it is stays below: fields of records repeat the names of their columns.
    const budget = new TextBudget(Math.max(mostText, 2 * text.length));
    const pieces = await read(text, { length, budget, turns: createTurns(signal) });
    return { pieces, hash: await sha256(`${length} ${text}`) };
  } catch (error) {
    if (signal?.aborted) throw new PinnaceError('cancelled', 'The ingestion was stopped');
    return { error: toData(error) };
  }
}

/** Where to start, and how many pieces of an earlier content there may be. */
async function placeIn(
  { file: { name }, hash, total, circumstances }: {
    readonly file: IngestFile;
    readonly hash: string;
    readonly total: number;
    readonly circumstances: Circumstances;
  },
): Promise<{ readonly start: number; readonly former: number; readonly isKnown: boolean }> {
  const mark = await readMark(name, circumstances);
  if (!mark) return { start: 0, former: 0, isKnown: false };
  if (mark.ids === undefined && await idBase(name) !== name) {
    await forgetByName(name, circumstances); // version 0.2 had one id for all names with the same end
    return { start: 0, former: 0, isKnown: false };
  }
  const isSame = mark.hash === hash;
  return {
    start: isSame ? mark.done : 0,
    former: isSame ? mark.former : Math.max(mark.total, mark.former),
    isKnown: isSame && mark.done === total && mark.former === 0,
  };
}

type Item = RememberInput['items'][number];

async function toItems(
  { name, uri = name }: IngestFile,
  pieces: readonly Piece[],
  { from, circumstances: { options } }: { readonly from: number; readonly circumstances: Circumstances },
): Promise<Item[]> {
  const base = await idBase(name);
  return pieces.map(({ text, title, lines, metadata = {} }, at): Item => ({
    id: `${base}#${from + at}`,
    text,
    title: title ?? name.slice(-500).toWellFormed(),
    uri: uri.length <= longestUri ? uri : `${options.dataSourceId}/${encodeURIComponent(base)}`,
    ...(lines && { lines: [...lines] }),
    metadata: { ...metadata, ...ownField('file', name, metadata), ...ownField('piece', from + at, metadata) },
  }));
}

/** A column of the file keeps its name. */
function ownField(name: string, value: unknown, metadata: Readonly<Record<string, unknown>>) {
  return { [Object.hasOwn(metadata, name) ? `$${name}` : name]: value };
}

/** Remembers the items. Where the source refuses one of them, the others are remembered one by one. */
async function rememberEach(
  items: Item[],
  { circumstances, refused }: {
    readonly circumstances: Circumstances;
    readonly refused: { count: number; error: ErrorData | undefined };
  },
): Promise<void> {
  const { grounding, options: { dataSourceId }, call } = circumstances;
  try {
    await grounding.remember({ dataSourceId, items }, call);
  } catch (error) {
    if (!(error instanceof PinnaceError) || error.code !== 'invalid_argument') throw error;
    if (items.length > 1) {
      for (const item of items) await rememberEach([item], { circumstances, refused });
      return;
    }
    refused.count++;
    refused.error ??= toData(error);
  }
}

async function forgetPieces(
  { base, from, to, circumstances: { grounding, options: { dataSourceId }, call } }: {
    readonly base: string;
    readonly from: number;
    readonly to: number;
    readonly circumstances: Circumstances;
  },
): Promise<number> {
  let count = 0;
  for (let at = from; at < to; at += 1_000) {
    const ids = Array.from({ length: Math.min(1_000, to - at) }, (_, more) => `${base}#${at + more}`);
    count += (await grounding.forget({ dataSourceId, ids }, call)).forgotten;
  }
  return count;
}

/** What version 0.2 has kept is known by the name alone. */
async function forgetByName(name: string, { grounding, options, call }: Circumstances): Promise<number> {
  const filters = [{ field: 'file', op: 'eq' as const, value: name }, { field: 'piece', op: 'gte' as const, value: 0 }];
  return (await grounding.forget({ dataSourceId: options.dataSourceId, filters }, call)).forgotten;
}

const longestUri = 2048;
const longestBase = 200;

/** What the ids of a file's items start with: its name, or a part of a long one with the hash of the whole. */
async function idBase(name: string): Promise<string> {
  const wellFormed = name.toWellFormed();
  if (wellFormed.length <= longestBase) return wellFormed;
  return `${(await sha256(name)).slice(0, 32)}~${wellFormed.slice(-longestBase + 40).toWellFormed()}`;
}

async function readMark(name: string, circumstances: Circumstances): Promise<Mark | undefined> {
  return (await circumstances.options.storage.get(await markKey(name, circumstances)))?.value as Mark | undefined; // written below
}

async function writeMark(name: string, mark: Mark, circumstances: Circumstances): Promise<void> {
  const key = await markKey(name, circumstances);
  await circumstances.options.storage.commit([{ key, value: { ...mark, ids: 'hashed' } }]);
}

/** Names of up to 300 characters are keys as they were in version 0.2. */
async function markKey(name: string, { grounding, options, call }: Circumstances): Promise<readonly string[]> {
  const { dataSourceId: id } = options;
  const owner = writeOwner(grounding.sources.find((source) => source.id === id) ?? { id }, call);
  const wellFormed = name.toWellFormed();
  return ['ingest', owner, id, wellFormed.length <= 300 ? wellFormed : await idBase(name)];
}

function noText(): PinnaceError {
  return new PinnaceError('invalid_argument', 'Cannot read the file: there is no text in it', {
    details: { reason: 'no_text' },
  });
}
