/** Searches an index of code: by symbols, by text and regular expressions, by words. */

import { loadOnce } from '../../../src/base/load-once.ts';
import { createTurns, type Turns } from '../../../src/base/turns.ts';
import { searchTexts } from '../text/text-ranking.ts';
import type { CodeIndex, IndexedFile } from './code-index.ts';
import { stem } from '../../../src/search/terms.ts';
import { visitWords } from '../../../src/search/words.ts';
import { type CodeQuery, globTest, parseCodeQuery } from './query.ts';
import type { CodeSymbol } from './symbols.ts';

/** How a location in the code relates to the query. */
export type Role = 'definition' | 'reference' | 'comment' | 'string';

/** Lines that were found. Lines count from 1, both ends included. */
export interface CodeFinding {
  readonly file: number;
  readonly from: number;
  readonly to: number;
  readonly confidence: number;
  /** The probability that anything here answers the query, judged by this finding; the confidence when absent. */
  readonly answered?: number;
  readonly score: number;
  readonly scoreKind: 'exact' | 'bm25';
  readonly symbol?: CodeSymbol;
  readonly role?: Role;
  /** Where in the lines, in UTF-16 code units. */
  readonly marks: readonly { readonly line: number; readonly from: number; readonly to: number }[];
}

export interface CodeSearchOptions {
  readonly signal: AbortSignal;
  readonly passes: (file: IndexedFile) => boolean;
}

/** What it is worth how a name matches. */
const worth = { definition: 0.95, reference: 0.8, otherCase: 0.7, part: 0.5 } as const;
/** What a name counts that is one of the words of a sentence. */
const inSentence = 0.9;
const mostPerFile = 3;
/** Findings that are looked at before they are sorted; by words, which come sorted, fewer. */
const mostFindings = 1_000;
const mostByWords = 50;

/** Returns what was found, the surest first, at most three places in a file. */
export async function searchCode(index: CodeIndex, text: string, options: CodeSearchOptions): Promise<CodeFinding[]> {
  const query = parseCodeQuery(text);
  const turns = createTurns(options.signal);
  const globs = query.paths.map(globTest);
  const allowed = new Set<number>();
  for (const [at, file] of index.files.entries()) {
    const isAsked = (globs.length === 0 || globs.some((matches) => matches(file.path))) &&
      (query.language === undefined || file.language === query.language);
    if (isAsked && options.passes(file)) allowed.add(at);
  }
  const findings = [
    ...findSymbols(index, query, allowed),
    ...await findTexts(index, query, { allowed, turns }),
    ...await findWords(index, query, { allowed, turns }),
  ];
  return mergeInFiles(findings).toSorted((a, b) => inOrder(index, a, b));
}

function findSymbols(
  { symbols, files }: CodeIndex,
  { symbol, words }: CodeQuery,
  allowed: ReadonlySet<number>,
): CodeFinding[] {
  const names = symbol === undefined ? namesIn(words) : [symbol];
  const find = (name: string) =>
    (symbols.get(name.toLowerCase()) ?? []).map((found) => ({
      ...found,
      confidence: (found.symbol.name === name ? worth.definition : worth.otherCase) as number,
    }));
  const share = symbol === undefined && words.includes(' ') ? inSentence : 1;
  const found = names.flatMap(find);
  if (symbol !== undefined && found.length === 0) {
    const small = symbol.toLowerCase();
    for (const [name, places] of symbols) {
      if (name.includes(small)) found.push(...places.map((place) => ({ ...place, confidence: worth.part })));
      if (found.length > mostFindings) break;
    }
  }
  return found.filter(({ file }) => allowed.has(file)).map(({ file, symbol: one, confidence }) => ({
    file,
    from: one.line,
    to: Math.min(one.endLine, one.line + 39, files[file]!.lines.length),
    confidence: confidence * share,
    score: confidence,
    scoreKind: 'exact',
    symbol: one,
    role: 'definition',
    marks: [{ line: one.line, from: one.column, to: one.column + one.name.length }],
  }));
}

/** Whether a word of a sentence is a name in code: it has an underscore, a capital inside, or digits between letters. */
function looksLikeName(word: string): boolean {
  return /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(word) && /[_$]|\p{Ll}\p{Lu}|\p{L}\p{N}+\p{L}/u.test(word);
}

/** The words of a query that are names: a query of one word is, and in a sentence what no language writes so. */
function namesIn(words: string): string[] {
  const parts = words.split(' ').map((word) => word.replace(/^[`'(]+|[`'(),.?!:;]+$/g, ''));
  return parts.filter((word) => parts.length === 1 ? /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(word) : looksLikeName(word));
}

const loadPattern = /* @__PURE__ */ loadOnce(() => import('./line-pattern.ts'));

/** Exact texts and regular expressions, line by line in the files that may hold them; one identifier alone is a text too. */
async function findTexts(
  { files, trigrams }: CodeIndex,
  { exact, regex, words, symbol }: CodeQuery,
  { allowed, turns }: { readonly allowed: ReadonlySet<number>; readonly turns: Turns },
): Promise<CodeFinding[]> {
  const pattern = regex && (await loadPattern()).linePattern(regex);
  const isName = /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(words) && symbol === undefined && exact.length === 0 && !pattern;
  const texts = isName ? [words] : exact;
  if (texts.length === 0 && !pattern) return [];
  const candidates = [...texts, pattern?.literal ?? ''].reduce<readonly number[] | undefined>((left, text) => {
    const having = text === '' ? undefined : trigrams.filesWith(text);
    if (!having || !left) return having ?? left;
    const set = new Set(having);
    return left.filter((file) => set.has(file));
  }, undefined);
  const findings: CodeFinding[] = [];
  for (const file of candidates ?? files.keys()) {
    if (!allowed.has(file)) continue;
    for (const [at, line] of files[file]!.lines.entries()) {
      await turns.next();
      const found = pattern ? pattern.find(line) : matchTexts(line, texts);
      if (!found) continue;
      const [from, to] = found;
      const mark = { line: at + 1, from, to };
      const confidence = worth.reference * (isName && isWithinWord(line, from, to) ? worth.part : 1);
      findings.push({
        file,
        from: at + 1,
        to: at + 1,
        confidence,
        score: confidence,
        scoreKind: 'exact',
        role: roleOf(line, from),
        marks: [mark],
      });
      if (findings.length >= mostFindings) return findings;
    }
  }
  return findings;
}

function matchTexts(line: string, texts: readonly string[]): readonly [number, number] | undefined {
  const [first = ''] = texts;
  const at = line.indexOf(first);
  return at >= 0 && texts.every((text) => line.includes(text)) ? [at, at + first.length] : undefined;
}

function isWithinWord(line: string, from: number, to: number): boolean {
  const isPart = (sign: string | undefined): boolean => sign !== undefined && /[\p{L}\p{N}_$]/u.test(sign);
  return isPart(line[from - 1]) || isPart(line[to]);
}

/** Judges by the text before it on the line: accurate enough without knowing the language. */
function roleOf(line: string, at: number): Role {
  const before = line.slice(Math.max(0, at - 500), at);
  if (/^\s*(\/\/|#|\*|\/\*|--|<!--)/.test(line) || /(\/\/|\/\*|\s#\s)/.test(before)) return 'comment';
  const quotes = before.match(/["'`]/g)?.length ?? 0;
  return quotes % 2 === 1 ? 'string' : 'reference';
}

async function findWords(
  { words, chunks, files }: CodeIndex,
  query: CodeQuery,
  { allowed, turns }: { readonly allowed: ReadonlySet<number>; readonly turns: Turns },
): Promise<CodeFinding[]> {
  if (query.words === '') return [];
  const passing = Uint32Array.from(chunks.keys().filter((chunk) => allowed.has(chunks[chunk]!.file)));
  const texts = await searchTexts(words, query.words, { allowed: passing, topK: mostByWords, turns });
  return texts.map(({ slot, score, confidence, answered, answers }) => {
    const { file, from, to, symbol } = chunks[slot]!;
    const terms = answers.flatMap((answer) => answer ? [words.vocabulary.terms[answer.alternative.term]!] : []);
    const marks = marksOf(files[file]!.lines, { from, to }, new Set(terms));
    return { file, from, to, score, scoreKind: 'bm25', confidence, answered, marks, ...(symbol && { symbol }) };
  });
}

const mostMarks = 50;

function marksOf(
  lines: readonly string[],
  { from, to }: { readonly from: number; readonly to: number },
  terms: ReadonlySet<string>,
): CodeFinding['marks'] {
  const marks: { line: number; from: number; to: number }[] = [];
  for (let line = from; line <= to && marks.length < mostMarks; line++) {
    visitWords(lines[line - 1]!.slice(0, 2_000), (word, start, end) => {
      if (!terms.has(stem(word))) return;
      const mark = { line, from: start, to: end };
      for (let last = marks.at(-1); last?.line === line && start < last.to; last = marks.at(-1)) {
        [mark.from, mark.to] = [Math.min(last.from, mark.from), Math.max(last.to, mark.to)]; // a name comes after its parts
        marks.pop();
      }
      if (marks.length < mostMarks) marks.push(mark);
    });
  }
  return marks;
}

/** Places that overlap by half of the shorter one, and lines with an exact text that touch, are one; of the others the three surest of each file. */
function mergeInFiles(findings: readonly CodeFinding[]): CodeFinding[] {
  return [...Map.groupBy(findings, ({ file }) => file).values()].flatMap((inFile) => {
    const merged: CodeFinding[] = [];
    for (
      const finding of inFile.toSorted((a, b) => b.confidence - a.confidence || b.score - a.score || a.from - b.from)
    ) {
      const at = merged.findIndex((other) => overlaps(other, finding));
      if (at >= 0) merged[at] = merge(merged[at]!, finding);
      else if (merged.length < mostPerFile) merged.push(finding);
    }
    return merged;
  });
}

function overlaps(a: CodeFinding, b: CodeFinding): boolean {
  if (isLine(a) && isLine(b)) return b.from <= a.to + 1 && b.to >= a.from - 1;
  const shared = Math.min(a.to, b.to) - Math.max(a.from, b.from) + 1;
  return shared >= Math.min(a.to - a.from + 1, b.to - b.from + 1) / 2;
}

/** A line with an exact text, which is no place of its own beside the next line. */
function isLine({ scoreKind, symbol }: CodeFinding): boolean {
  return scoreKind === 'exact' && !symbol;
}

/** The surer one says what it is. It grows as long as it stays a screen, unless it is a whole symbol. */
function merge(surer: CodeFinding, other: CodeFinding): CodeFinding {
  const [from, to] = [Math.min(surer.from, other.from), Math.max(surer.to, other.to)];
  const grows = to - from < 40 && !surer.symbol;
  const lines = grows ? { from, to } : { from: surer.from, to: surer.to };
  const marks = [
    ...surer.marks,
    ...other.marks.filter((mark) =>
      mark.line >= lines.from && mark.line <= lines.to &&
      !surer.marks.some((own) => own.line === mark.line && own.from === mark.from)
    ),
  ];
  return { ...surer, ...lines, marks };
}

function inOrder({ files }: CodeIndex, a: CodeFinding, b: CodeFinding): number {
  const [left, right] = [files[a.file]!.path, files[b.file]!.path];
  return b.confidence - a.confidence || b.score - a.score || (left < right ? -1 : Number(left > right)) ||
    a.from - b.from;
}
