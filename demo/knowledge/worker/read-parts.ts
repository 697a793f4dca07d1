/** The parts of a file, as a person reads them. */

import { type Grounding, PinnaceError } from '../../../src/index.ts';
import type { GroundingHit } from '../../../src/grounding/index.ts';
import type { FilePart, PartsPage } from '../../control/knowledge-control.ts';
import { decodeText } from './decode.ts';
import type { FileRecord, Library } from './library.ts';
import { linesPerPart } from './place.ts';
import { sourceIds } from './data-sources.ts';

interface PartsWanted {
  readonly file: string;
  readonly from: number;
  /** Up to 100. */
  readonly count: number;
}

/**
 * Returns some parts of a file.
 *
 * @throws PinnaceError `not_found` when the file is there no more.
 */
export async function readParts(
  { library, grounding }: { readonly library: Library; readonly grounding: Grounding },
  { file: name, from, count }: PartsWanted,
): Promise<PartsPage> {
  const record = library.get(name);
  if (!record) throw new PinnaceError('not_found', `Cannot open "${name}": it was removed`);
  const { hash: _, type: __, ...file } = record;
  if (record.kind === 'picture') return { file, total: 0, parts: [] };
  if (record.kind === 'code') {
    const parts = await codeParts(library, record);
    return { file, total: parts.length, parts: parts.slice(from, from + count) };
  }
  const { hits } = await grounding.retrieve({
    dataSourceId: sourceIds.words,
    topK: count,
    filters: [{ field: '$id', op: 'in', value: Array.from({ length: count }, (_item, at) => `${name}#${from + at}`) }],
    budgetMs: 20_000,
  });
  const parts = hits.map(toFilePart).toSorted((a, b) => a.piece - b.piece);
  return { file, total: record.done, parts };
}

async function codeParts(library: Library, { name }: FileRecord): Promise<FilePart[]> {
  const lines = decodeText(await library.content(name) ?? new Uint8Array()).split(/\r\n|\r|\n/);
  return Array.from({ length: Math.ceil(lines.length / linesPerPart) }, (_, piece) => {
    const from = piece * linesPerPart;
    const text = lines.slice(from, from + linesPerPart);
    return { piece, text: text.join('\n'), lines: [from + 1, from + text.length] };
  });
}

function toFilePart({ id, content, title, source: { lines } }: GroundingHit): FilePart {
  return {
    piece: Number(id.slice(id.lastIndexOf('#') + 1)),
    text: content,
    ...(title !== undefined && { title }),
    ...(lines && { lines }),
  };
}
