/** The index of one repository: its files by line, their symbols, words and runs of three characters. */

import { PinnaceError } from '../../../src/base/errors.ts';
import { sha256 } from '../../../src/base/hash.ts';
import { createTurns, type Turns } from '../../../src/base/turns.ts';
import type { SearchIndex } from '../../../src/search/search-index.ts';
import { addText, createTextIndex } from '../text/text-query.ts';
import { type CodeSymbol, languageOf, symbolsOf } from './symbols.ts';
import { type OpenTree, textOf } from './tree.ts';

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

export interface CodeIndex {
  readonly repo: string;
  /** The commit, or a hash of all contents. */
  readonly version: string;
  readonly files: readonly IndexedFile[];
  readonly chunks: readonly Chunk[];
  /** The words of chunks, by their numbers. */
  readonly words: SearchIndex;
  readonly trigrams: Trigrams;
  /** By their names in small letters. */
  readonly symbols: ReadonlyMap<string, readonly { readonly file: number; readonly symbol: CodeSymbol }[]>;
}

export interface CodeLimits {
  readonly files: number;
  /** Of one file; longer ones are left out. */
  readonly fileBytes: number;
  readonly bytes: number;
}

/** Words of minified files are not indexed. */
const longestBody = 20_000;
const chunkLines = 40;
const overlap = 10;

/**
 * Reads and indexes a repository, in turns.
 * @throws PinnaceError `budget_exceeded` when it is larger than the limits, `cancelled` with the signal.
 */
export async function indexTree(tree: OpenTree, limits: CodeLimits, signal: AbortSignal): Promise<CodeIndex> {
  const turns = createTurns(signal);
  const files: IndexedFile[] = [];
  const chunks: Chunk[] = [];
  const symbols = new Map<string, { file: number; symbol: CodeSymbol }[]>();
  const [words, trigrams] = [createTextIndex(), createTrigrams()];
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
      const body = lines.slice(chunk.from - 1, chunk.to).join('\n').slice(0, longestBody);
      const { name = '', container = '' } = chunk.symbol ?? {};
      const title = `${`${container} ${name}`.trim()} ${path}`;
      addText(words, { id: String(chunks.push(chunk) - 1), group: path, title, text: body, path });
    }
    await trigrams.add(file, text, turns);
  }
  const version = tree.commit ?? (await sha256(hashes.toSorted().join('\n'))).slice(0, 40);
  return { repo: tree.repo, version, files, chunks, words, trigrams, symbols };
}

/** Symbols that are cut at the symbols in them. */
const containers = new Set(['Class', 'Interface', 'Struct', 'Module', 'Namespace']);
/** A function is one chunk up to this length. */
const longestWhole = 80;

interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * Symbols with their bodies and the comments above them; classes by their members; what is between and beyond them in pieces of 40
 * lines that overlap by 10.
 */
function chunksOf(file: number, lines: readonly string[], symbols: readonly CodeSymbol[]): Chunk[] {
  const chunks: Chunk[] = [];
  const fill = ({ from, to }: Span, symbol?: CodeSymbol): void => {
    if (lines.slice(from - 1, to).every((line) => line.trim().length < 3)) return; // brackets and empty lines
    for (let start = from; start <= to; start += chunkLines - overlap) {
      chunks.push({ file, from: start, to: Math.min(to, start + chunkLines - 1), ...(symbol && { symbol }) });
      if (start + chunkLines > to) break;
    }
  };
  /** Cuts a part of the file at the symbols of one level in it. */
  const cut = ({ from, to }: Span, owner: CodeSymbol | undefined): void => {
    let next = from;
    for (const symbol of symbols) {
      if (symbol === owner || symbol.line < next || symbol.line > to) continue;
      const start = commentAbove(lines, symbol.line, next);
      if (start > next) fill({ from: next, to: start - 1 }, owner);
      const end = Math.min(to, symbol.endLine);
      if (containers.has(symbol.kind) && end - start >= 8) cut({ from: start, to: end }, symbol);
      else if (end - start < longestWhole) chunks.push({ file, from: start, to: end, symbol });
      else fill({ from: start, to: end }, symbol);
      next = end + 1;
    }
    if (next <= to) fill({ from: next, to }, owner);
  };
  cut({ from: 1, to: lines.length }, undefined);
  return chunks;
}

/** The first line of the comments and decorators right above a line. */
function commentAbove(lines: readonly string[], line: number, least: number): number {
  let first = line;
  while (first > least && /^\s*(\/\/|\/\*|\*|#|@|--)/.test(lines[first - 2]!)) first--;
  return first;
}

function tooLarge({ files, bytes }: CodeLimits): PinnaceError {
  return new PinnaceError(
    'budget_exceeded',
    `Cannot index the repository: it has more than ${files} files or ${bytes} bytes`,
    { details: { reason: 'repository_too_large' } },
  );
}

export type Trigrams = ReturnType<typeof createTrigrams>;

/** Number of hash slots. Other trigrams may share a slot; reading the file tells them apart. */
const places = 1 << 20;

export function createTrigrams() {
  const postings = new Map<number, number[]>();
  return {
    /** Takes the files in the order of their numbers. */
    async add(file: number, text: string, turns: Turns): Promise<void> {
      const small = text.toLowerCase();
      for (let at = 0; at + 3 <= small.length; at++) {
        if (at % 16_384 === 0) await turns.next();
        const place = placeOf(small, at);
        const files = postings.get(place);
        if (!files) postings.set(place, [file]);
        else if (files.at(-1) !== file) files.push(file);
      }
    },
    /** The files that may hold the text, whatever the case of its letters; `undefined` where it is too short. */
    filesWith(text: string): readonly number[] | undefined {
      const small = text.toLowerCase();
      if (small.length < 3) return undefined;
      const lists = Array.from({ length: small.length - 2 }, (_, at) => postings.get(placeOf(small, at)) ?? []);
      const [rarest = [], ...others] = lists.toSorted((a, b) => a.length - b.length).slice(0, 6);
      const sets = others.map((list) => new Set(list));
      return rarest.filter((file) => sets.every((set) => set.has(file)));
    },
  };
}

function placeOf(text: string, at: number): number {
  const mixed = Math.imul(text.charCodeAt(at), 0x9e3779b1) ^ Math.imul(text.charCodeAt(at + 1), 0x85ebca6b) ^
    Math.imul(text.charCodeAt(at + 2), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 15)) & (places - 1);
}
