/** The index of one repository: its files by line, their symbols, words and runs of three characters. */

import { PinnaceError } from '../../../src/base/errors.ts';
import { sha256 } from '../../../src/base/hash.ts';
import { createTurns } from '../turns.ts';
import { languageOf } from './language.ts';
import { type CodeSymbol, symbolsOf } from './symbols.ts';
import { type OpenTree, textOf } from './tree.ts';
import { createTrigrams, type Trigrams } from './trigrams.ts';
import { createWordIndex, type WordIndex } from './word-index.ts';

/** A stored file. */
export interface IndexedFile {
  readonly path: string;
  readonly language: string;
  readonly lines: readonly string[];
  readonly symbols: readonly CodeSymbol[];
}

/** Lines of a file that are found together. Lines count from 1, both ends included. */
export interface Chunk {
  readonly file: number;
  readonly from: number;
  readonly to: number;
  readonly symbol?: CodeSymbol;
}

/** A repository, ready for questions. */
export interface CodeIndex {
  readonly repo: string;
  /** The commit, or a hash of all contents. */
  readonly version: string;
  readonly files: readonly IndexedFile[];
  readonly chunks: readonly Chunk[];
  readonly words: WordIndex;
  readonly trigrams: Trigrams;
  /** By their names in small letters. */
  readonly symbols: ReadonlyMap<string, readonly { readonly file: number; readonly symbol: CodeSymbol }[]>;
}

/** How much is taken of a repository. */
export interface CodeLimits {
  readonly files: number;
  /** Of one file; longer ones are left out. */
  readonly fileBytes: number;
  readonly bytes: number;
}

const chunkLines = 40;
const overlap = 10;

/**
 * Reads and indexes a repository, in turns.
 *
 * @throws PinnaceError `budget_exceeded` when it is larger than the limits, `cancelled` with the signal.
 */
export async function indexTree(tree: OpenTree, limits: CodeLimits, signal: AbortSignal): Promise<CodeIndex> {
  const turns = createTurns(signal);
  const files: IndexedFile[] = [];
  const chunks: Chunk[] = [];
  const symbols = new Map<string, { file: number; symbol: CodeSymbol }[]>();
  const [words, trigrams] = [createWordIndex(), createTrigrams()];
  const hashes: string[] = [];
  let bytes = 0;
  for await (const { path, size, read } of tree.files) {
    await turns.next();
    if (size > limits.fileBytes) continue;
    bytes += size;
    if (files.length >= limits.files || bytes > limits.bytes) throw tooLarge(limits);
    const text = textOf(await read(signal));
    if (text === undefined) continue;
    const file = files.length;
    const language = languageOf(path);
    const lines = text.split(/\r\n|\r|\n/);
    const found = symbolsOf(lines, language.symbols);
    files.push({ path, language: language.name, lines, symbols: found });
    if (tree.commit === undefined) hashes.push(`${path} ${await sha256(text)}`);
    for (const symbol of found) {
      const name = symbol.name.toLowerCase();
      symbols.set(name, [...symbols.get(name) ?? [], { file, symbol }]);
    }
    for (const chunk of chunksOf(file, lines, found)) {
      await turns.next();
      const body = lines.slice(chunk.from - 1, chunk.to).join('\n');
      words.add({ id: chunks.push(chunk) - 1, path, symbol: chunk.symbol?.name ?? '', body });
    }
    await trigrams.add(file, text, turns);
  }
  const version = tree.commit ?? (await sha256(hashes.toSorted().join('\n'))).slice(0, 40);
  return { repo: tree.repo, version, files, chunks, words, trigrams, symbols };
}

/** Symbols with their bodies; what is between and beyond them in pieces of 40 lines that overlap by 10. */
function chunksOf(file: number, lines: readonly string[], symbols: readonly CodeSymbol[]): Chunk[] {
  const chunks: Chunk[] = [];
  const fill = (from: number, to: number): void => {
    for (let start = from; start <= to; start += chunkLines - overlap) {
      chunks.push({ file, from: start, to: Math.min(to, start + chunkLines - 1) });
      if (start + chunkLines > to) break;
    }
  };
  let next = 1;
  for (const symbol of symbols.filter(({ container }) => container === undefined)) {
    if (symbol.line < next) continue;
    if (symbol.line > next) fill(next, symbol.line - 1);
    if (symbol.endLine - symbol.line < chunkLines) chunks.push({ file, from: symbol.line, to: symbol.endLine, symbol });
    else fill(symbol.line, symbol.endLine);
    next = symbol.endLine + 1;
  }
  if (next <= lines.length) fill(next, lines.length);
  for (const symbol of symbols) {
    if (symbol.container === undefined || symbol.endLine - symbol.line >= chunkLines) continue;
    chunks.push({ file, from: symbol.line, to: symbol.endLine, symbol });
  }
  return chunks;
}

function tooLarge({ files, bytes }: CodeLimits): PinnaceError {
  return new PinnaceError(
    'budget_exceeded',
    `Cannot index the repository: it has more than ${files} files or ${bytes} bytes`,
    { details: { reason: 'repository_too_large' } },
  );
}
