/** Code as a grounding source: symbols, identifiers, exact text and linear-time regular expressions, with lines that stay true. */

import { checkNames, optional } from '../../src/base/check-options.ts';
import { BoundedMap } from '../../src/base/bounded-map.ts';
import {
  compileFilters,
  type Filter,
  filterOps,
  type GroundingSource,
  readField,
  type SourceHit,
} from '../../src/contracts/grounding-source.ts';
import { type CodeIndex, type CodeLimits, type IndexedFile, indexTree } from './code/code-index.ts';
import { type CodeFinding, searchCode } from './code/code-search.ts';
import type { CodeTree } from './code/tree.ts';
import { excerptOf } from './excerpt.ts';
import { listedConfidence } from './item-engine.ts';
import { requireAnswerable } from './item-source.ts';
import { requireRunning } from '../../src/base/turns.ts';

export type { CodeFile, CodeTree, OpenTree } from './code/tree.ts';

/** What a source of code is made of. */
export interface CodeSourceOptions {
  /** The id of the source, which agents name in `dataSources`. */
  readonly id: string;
  /** Returns the repository of a tenant; `undefined` for who has none. */
  readonly tree: (tenant: string) => CodeTree | undefined;
  /** Bounds of what is read, in place of the defaults. */
  readonly limits?: Partial<CodeLimits>;
}

/** A source of code. */
export interface CodeSource extends GroundingSource {
  /** Reads the repository again; until then queries are answered from the earlier index. */
  refresh(tenant: string, signal: AbortSignal): Promise<void>;
}

/** 64 MiB in all. */
const defaultLimits: CodeLimits = { files: 20_000, fileBytes: 16_777_216, bytes: 67_108_864 };

/**
 * Returns the source. A query is words, `"exact text"`, `/regular expression/`, `sym:name`, and may say `path:src/*.ts` or
 * `lang:go`; filters read `repo`, `path`, `language`, `symbol` and `symbolKind`. What is read is pinned: to a commit, or by a hash.
 *
 * @example
 * const code = codeSource({ id: 'code', tree: () => folderTree('/srv/project', { repo: 'project' }) });
 */
export function codeSource(options: CodeSourceOptions): CodeSource {
  checkNames('create the source', options, optional('id', 'tree', 'limits'));
  const { id, tree, limits } = options;
  const capabilities = { query: true, embedding: false, filters: filterOps, records: false };
  const indexes = new BoundedMap<string, Promise<CodeIndex | undefined>>(64);
  const build = async (tenant: string, signal: AbortSignal): Promise<CodeIndex | undefined> => {
    const open = tree(tenant);
    return open && await indexTree(await open(signal), { ...defaultLimits, ...limits }, signal);
  };
  /** The first query builds the index, and others wait for it; the query after a stopped one builds again. */
  const indexOf = async (tenant: string, signal: AbortSignal): Promise<CodeIndex | undefined> => {
    requireRunning(signal);
    for (;;) {
      const known = indexes.get(tenant);
      if (!known) break;
      const index = await known.catch(() => 'failed' as const);
      requireRunning(signal);
      if (index !== 'failed') return index;
      if (indexes.get(tenant) === known) indexes.delete(tenant);
    }
    const building = build(tenant, signal);
    indexes.set(tenant, building);
    return await building;
  };
  return {
    id,
    kind: 'code',
    capabilities,
    async retrieve(request, signal) {
      requireAnswerable(id, capabilities, request);
      const index = await indexOf(request.tenant, signal);
      if (!index) return [];
      const { query = '', topK, filters } = request;
      const { ofFiles, ofHits } = splitFilters(filters, index.repo);
      const findings = query.trim() === ''
        ? listFiles(index, ofFiles)
        : await searchCode(index, query, { signal, passes: ofFiles });
      return findings.map((finding) => toHit(index, finding)).filter(ofHits).slice(0, topK);
    },
    async stats(tenant, signal) {
      const index = await indexOf(tenant, signal);
      const details = index && { chunks: index.chunks.length, symbols: index.symbols.size };
      return { version: index?.version ?? '0', items: index?.files.length ?? 0, ...(details && { details }) };
    },
    async refresh(tenant, signal) {
      const index = await build(tenant, signal);
      indexes.set(tenant, Promise.resolve(index));
    },
  };
}

/** Filters on symbols apply to hits, all others to files before the search. */
function splitFilters(filters: readonly Filter[], repo: string) {
  const isOfHit = (filter: Filter): boolean =>
    ('any' in filter ? filter.any : [filter]).some(({ field }) => field.startsWith('symbol'));
  const readFile = ({ path, language }: IndexedFile, field: string): unknown =>
    readField({ repo, path, language }, field);
  return {
    ofFiles: compileFilters<IndexedFile>(filters.filter((filter) => !isOfHit(filter)), readFile),
    ofHits: compileFilters<SourceHit>(filters.filter(isOfHit), ({ metadata }, field) => {
      const { symbol, ...others } = metadata as { readonly symbol?: { readonly name: string; readonly kind: string } };
      return readField({ ...others, symbol: symbol?.name, symbolKind: symbol?.kind }, field);
    }),
  };
}

function listFiles({ files }: CodeIndex, passes: (file: IndexedFile) => boolean): CodeFinding[] {
  return [...files.entries()].filter(([, file]) => passes(file)).map(([file, { lines }]) => ({
    file,
    from: 1,
    to: Math.min(40, lines.length),
    confidence: listedConfidence,
    score: 0,
    scoreKind: 'exact',
    marks: [],
  }));
}

/** Lines before and after a short place. */
const around = 3;

function toHit({ repo, version, files }: CodeIndex, finding: CodeFinding): SourceHit {
  const { path, language, lines } = files[finding.file]!;
  const isShort = finding.to - finding.from < 2 * around;
  const from = isShort ? Math.max(1, finding.from - around) : finding.from;
  const to = Math.min(lines.length, isShort ? finding.to + around : finding.to, from + 39);
  const shown = lines.slice(from - 1, to);
  const starts = shown.reduce<number[]>((all, line) => [...all, all.at(-1)! + line.length + 1], [0]);
  const ranges = finding.marks
    .filter(({ line }) => line >= from && line <= to)
    .map((mark) => [starts[mark.line - from]! + mark.from, starts[mark.line - from]! + mark.to] as const)
    .toSorted(([a], [b]) => a - b);
  const excerpt = excerptOf(shown.join('\n'), ranges, { most: 6_000 });
  const [mark] = finding.marks;
  const { symbol, role } = finding;
  return {
    id: `${path}#L${finding.from}-L${finding.to}`,
    content: excerpt.content === '' ? '\n' : excerpt.content,
    ...(excerpt.contentRange && { contentRange: excerpt.contentRange }),
    title: symbol ? `${symbol.name} in ${path}` : path,
    source: { uri: `${repo}@${version}:${path}#L${from}-L${to}`, path, lines: [from, to], version },
    score: finding.score,
    scoreKind: finding.scoreKind,
    confidence: finding.confidence,
    ...(finding.answered !== undefined && { answered: finding.answered }),
    matched: [{ field: 'content', ranges: excerpt.ranges }],
    metadata: {
      repo,
      path,
      language,
      ...(mark && { line: mark.line, startCol: mark.from, endCol: mark.to }),
      ...(symbol &&
        {
          symbol: {
            name: symbol.name,
            kind: symbol.kind,
            ...(symbol.container !== undefined && { container: symbol.container }),
            ...(role && { role }),
          },
        }),
      ...(role && { role }),
    },
  };
}
