/** Fills a data source with files: piece by piece, with progress, and resumable. */

import { type ErrorData, PinnaceError, toData } from '../../base/errors.ts';
import type { Storage } from '../../contracts/storage.ts';
import type { GroundingCallOptions } from '../access.ts';
import { tenantOf } from '../access.ts';
import { sha256 } from '../../base/hash.ts';
import type { Grounding } from '../create-grounding.ts';
import type { Piece } from './pieces.ts';
import { readerOf } from './read-file.ts';

/** A file to be read. */
export interface IngestFile {
  /** With its ending, which says how it is read. Names it in what is found, and in the next ingestion. */
  readonly name: string;
  /** Its media type, where the name says nothing. */
  readonly type?: string;
  /** Where it can be opened; its name when absent. */
  readonly uri?: string;
  readonly text: () => string | Promise<string>;
}

/** What is known of one file. */
export interface IngestProgress {
  readonly file: string;
  /** `unchanged`: the same content was ingested before. */
  readonly state: 'reading' | 'writing' | 'done' | 'unchanged' | 'failed';
  readonly done: number;
  readonly total: number;
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

/** How far a file has come. */
interface Mark {
  readonly hash: string;
  readonly done: number;
  readonly total: number;
  /** Pieces of an earlier content that may still be there. */
  readonly former: number;
}

/** Pieces in one call: what is lost at most when it is cut off. */
const perCall = 50;

/**
 * Reads the files and remembers their pieces. A file whose content was ingested is skipped, a started one continues after
 * the last recorded piece, and the missing pieces of a changed one are deleted. A file that cannot be read
 * is reported as failed, and the others continue. Rights are those of `remember` and `forget`.
 *
 * @throws PinnaceError `invalid_argument` for a source per subject, what the data source throws, and `cancelled` with the signal; calling again continues from there.
 */
export async function ingest(
  grounding: Grounding,
  options: IngestOptions,
  call: GroundingCallOptions = {},
): Promise<IngestReport> {
  requireShared(grounding, options.dataSourceId);
  const files: IngestProgress[] = [];
  let written = 0;
  for (const file of options.files) {
    if (call.signal?.aborted) throw new PinnaceError('cancelled', 'The ingestion was stopped');
    const { progress, count } = await ingestFile(grounding, file, { options, call });
    files.push(progress);
    written += count;
  }
  return { files, written };
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
  const { dataSourceId, storage, name } = options;
  const filters = [{ field: 'file', op: 'eq' as const, value: name }];
  const { forgotten } = await grounding.forget({ dataSourceId, filters }, call);
  await storage.commit([{ key: markKey(name, { options, call }) }]);
  return forgotten;
}

interface Circumstances {
  readonly options: IngestOptions;
  readonly call: GroundingCallOptions;
}

async function ingestFile(grounding: Grounding, file: IngestFile, circumstances: Circumstances) {
  const { options: { onProgress, pieceLength = 1_200 } } = circumstances;
  const report = (state: IngestProgress['state'], done: number, total: number, error?: ErrorData): IngestProgress => {
    const progress = { file: file.name, state, done, total, ...(error && { error }) };
    onProgress?.(progress);
    return progress;
  };
  report('reading', 0, 0);
  const read = await readPieces(file, pieceLength);
  if ('error' in read) return { progress: report('failed', 0, 0, read.error), count: 0 };
  const { pieces, hash } = read;
  const mark = await readMark(file, hash, circumstances);
  if (mark.hash === hash && mark.done === pieces.length && mark.former === 0) {
    return { progress: report('unchanged', pieces.length, pieces.length), count: 0 };
  }
  const start = mark.hash === hash ? mark.done : 0;
  const former = mark.hash === hash ? mark.former : Math.max(mark.total, mark.former);
  for (let done = start; done < pieces.length; done += perCall) {
    report('writing', done, pieces.length);
    const items = pieces.slice(done, done + perCall).map((piece, at) => toItem(file, piece, done + at));
    await grounding.remember({ dataSourceId: circumstances.options.dataSourceId, items }, circumstances.call);
    const reached = Math.min(pieces.length, done + perCall);
    await writeMark(file, { hash, done: reached, total: pieces.length, former }, circumstances);
  }
  await forgetFormer(grounding, file, { from: pieces.length, to: former, circumstances });
  await writeMark(file, { hash, done: pieces.length, total: pieces.length, former: 0 }, circumstances);
  return { progress: report('done', pieces.length, pieces.length), count: pieces.length - start };
}

/** An error of one file is reported for that file only. */
async function readPieces(file: IngestFile, length: number) {
  try {
    const read = readerOf(file.name, file.type);
    const text = (await file.text()).replace(/^\uFEFF/, '').toWellFormed();
    return { pieces: read(text, { length }), hash: await sha256(`${length} ${text}`) };
  } catch (error) {
    return { error: toData(error) };
  }
}

function toItem({ name, uri = name }: IngestFile, { text, title, lines, metadata }: Piece, at: number) {
  return {
    id: itemId(name, at),
    text,
    title: title ?? name.slice(-500),
    uri,
    ...(lines && { lines: [...lines] }),
    metadata: { ...metadata, file: name, piece: at },
  };
}

async function forgetFormer(
  grounding: Grounding,
  { name }: IngestFile,
  { from, to, circumstances: { options: { dataSourceId }, call } }: {
    from: number;
    to: number;
    circumstances: Circumstances;
  },
): Promise<void> {
  for (let at = from; at < to; at += 1_000) {
    const ids = Array.from({ length: Math.min(1_000, to - at) }, (_, more) => itemId(name, at + more));
    await grounding.forget({ dataSourceId, ids }, call);
  }
}

function itemId(name: string, at: number): string {
  return `${name.slice(-200)}#${at}`;
}

async function readMark(file: IngestFile, hash: string, circumstances: Circumstances): Promise<Mark> {
  const known = (await circumstances.options.storage.get(markKey(file.name, circumstances)))?.value as Mark | undefined; // written below
  return known ?? { hash, done: 0, total: 0, former: 0 };
}

async function writeMark(file: IngestFile, value: Mark, circumstances: Circumstances): Promise<void> {
  await circumstances.options.storage.commit([{ key: markKey(file.name, circumstances), value }]);
}

function markKey(
  name: string,
  { options: { dataSourceId }, call }: {
    readonly options: Pick<IngestOptions, 'dataSourceId'>;
    readonly call: GroundingCallOptions;
  },
): readonly string[] {
  return ['ingest', tenantOf(call), dataSourceId, name.slice(-300)];
}
