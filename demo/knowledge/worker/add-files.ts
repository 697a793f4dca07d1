/** Adds files: unpacks archives, reports duplicates, and stores the rest for indexing. */

import { loadOnce } from '../../../src/base/load-once.ts';
import { PinnaceError, toData } from '../../../src/index.ts';
import type { AddReport, Upload } from '../../control/knowledge-control.ts';
import { decodeText } from './decode.ts';
import { type FileKind, fileKind } from './file-kind.ts';
import type { FileRecord, Library } from './library.ts';
import { sha256 } from '../../../src/base/hash.ts';

/** The longest file, and the longest archive. */
const mostBytes = { document: 16_777_216, code: 2_097_152, picture: 5_242_880, archive: 67_108_864 } as const;
const longestName = 200;
const mostFiles = 20_000;
/** What the files of one archive may take together. */
const mostUnpacked = 268_435_456;

interface AddOptions {
  readonly library: Library;
  readonly now: () => number;
}

/** Counts what became of the files. */
type Tally = { -readonly [Key in keyof AddReport]: AddReport[Key] };

/** Adds the files, one after the other. One that cannot be read is listed with its error, and the others go on. */
export async function addFiles(uploads: readonly Upload[], options: AddOptions): Promise<AddReport> {
  const report: Tally = { added: 0, replaced: 0, unchanged: 0, copies: [], refused: 0, leftOut: 0 };
  for (const upload of uploads) await addOne(upload, options, report);
  return report;
}

async function addOne(upload: Upload, options: AddOptions, report: Tally): Promise<void> {
  const { name, type, content } = upload;
  const kind = fileKind(name, type);
  const isInFolder = name.includes('/');
  if ((!kind || kind === 'picture') && isInFolder) {
    report.leftOut++;
    return;
  }
  try {
    if (!kind) throw unknownKind();
    requireFitting(name, content.size, mostBytes[kind]);
    const bytes = new Uint8Array(await content.arrayBuffer());
    if (kind === 'archive') await addArchive(name, bytes, options, report);
    else await addContent({ name, kind, bytes, ...(type !== undefined && { type }) }, options, report);
  } catch (error) {
    await refuse({ name, size: content.size, kind, error }, options, report);
  }
}

interface Content {
  readonly name: string;
  readonly kind: Exclude<FileKind, 'archive'>;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type?: string;
}

async function addContent({ name, kind, bytes, type }: Content, { library, now }: AddOptions, report: Tally) {
  if (bytes.length === 0) throw new PinnaceError('invalid_argument', 'Cannot read the file: it is empty');
  const hash = await sha256(bytes);
  const before = library.get(name);
  if (before?.hash === hash && before.state !== 'stopped' && before.state !== 'failed') {
    report.unchanged++;
    return;
  }
  const same = before ? undefined : library.all().find((record) => record.hash === hash && record.state !== 'failed');
  if (same) {
    report.copies = [...report.copies, { name, of: same.name }];
    return;
  }
  const total = kind === 'code' ? decodeText(bytes).split(/\r\n|\r|\n/).length : 0;
  await library.add({
    name,
    kind,
    size: bytes.length,
    state: kind === 'picture' ? 'ready' : 'waiting',
    done: 0,
    total,
    addedAt: now(),
    hash,
    ...(type !== undefined && type !== '' && { type }),
    ...(kind === 'picture' && { skipped: ['the picture: agents find only text. Attach it to a chat'] }),
  }, bytes);
  if (before && before.state !== 'failed') report.replaced++;
  else report.added++;
}

/** The reader of archives loads with the first one. */
const loadArchiveTree = loadOnce(() => import('../../../adapters/grounding/code/archive-tree.ts'));

/** The archive's own files; it is a folder of its name. */
async function addArchive(name: string, bytes: Uint8Array<ArrayBuffer>, options: AddOptions, report: Tally) {
  const folder = name.replace(/\.zip$/i, '');
  const open = (await loadArchiveTree()).archiveTree(bytes, { repo: folder });
  const { signal } = new AbortController();
  const { files } = await open(signal);
  let [count, unpacked] = [0, 0];
  for await (const { path, size, read } of files) {
    const own = `${folder}/${path}`;
    const kind = fileKind(path);
    if (!kind || kind === 'archive' || kind === 'picture' || ++count > mostFiles) {
      report.leftOut++;
      continue;
    }
    try {
      requireFitting(own, size, mostBytes[kind]);
      unpacked += size;
      if (unpacked > mostUnpacked) throw tooMuch();
      await addContent({ name: own, kind, bytes: new Uint8Array(await read(signal)) }, options, report);
    } catch (error) {
      await refuse({ name: own, size, kind, error }, options, report);
    }
  }
  if (count === 0) {
    throw new PinnaceError('invalid_argument', 'Cannot read the archive: it contains no documents or code');
  }
}

/** Lists the file with its error, unless a good one has this name: that one stays. */
async function refuse(
  { name, size, kind, error }: {
    readonly name: string;
    readonly size: number;
    readonly kind: FileKind | undefined;
    readonly error: unknown;
  },
  { library, now }: AddOptions,
  report: Tally,
): Promise<void> {
  if (error instanceof PinnaceError && error.details?.['reason'] === 'storage_full') throw error;
  report.refused++;
  const before = library.get(name);
  if (before && before.state !== 'failed') return;
  const record: FileRecord = {
    name: name.slice(-longestName),
    kind: kind === 'code' || kind === 'picture' ? kind : 'document',
    size,
    state: 'failed',
    done: 0,
    total: 0,
    addedAt: now(),
    hash: '',
    error: toData(error),
  };
  await library.add(record, undefined);
}

function requireFitting(name: string, size: number, most: number): void {
  if (name.length > longestName) {
    throw new PinnaceError(
      'invalid_argument',
      `Cannot read the file: its name is longer than ${longestName} characters`,
    );
  }
  if (size > most) {
    throw new PinnaceError('invalid_argument', `Cannot read the file: it is larger than ${most / 1_048_576} MiB`);
  }
}

function tooMuch(): PinnaceError {
  return new PinnaceError(
    'invalid_argument',
    `Cannot read the file: the files of its archive are larger than ${mostUnpacked / 1_048_576} MiB together`,
  );
}

function unknownKind(): PinnaceError {
  return new PinnaceError(
    'invalid_argument',
    'Cannot read a file of this type. Supported: text, code, tables, HTML, PDF, Word, Excel, PowerPoint, OpenDocument, pictures, and ZIP archives of these',
    { details: { reason: 'unsupported_type' } },
  );
}
