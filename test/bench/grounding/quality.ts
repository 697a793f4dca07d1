/**
 * How well grounding finds and how true its confidence is, on judged questions beside peers. The data are a folder beside this project;
 * with `--plot` the calibration is drawn into `docs/pictures/grounding-calibration.svg`.
 */

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { codeSource } from '../../../adapters/grounding/code-repo.ts';
import { hashedEmbedder } from '../../../adapters/grounding/hashed-embedder.ts';
import { textSource } from '../../../adapters/grounding/text.ts';
import { vectorSource } from '../../../adapters/grounding/vector.ts';
import { calibrationError, type JudgedHit } from '../../../src/grounding/calibration.ts';
import { createGrounding, type Grounding } from '../../../src/grounding/index.ts';
import { cpuMs, report, type Row, skip } from '../measure.ts';
import { calibrationPlot } from './calibration-plot.ts';

interface Document {
  readonly id: string;
  readonly title: string;
  readonly text: string;
}

interface Corpus {
  readonly documents: readonly Document[];
  readonly files: readonly { readonly path: string; readonly text: string }[];
}

interface Question {
  readonly query: string;
  /** Each need has documents that meet it; none where nothing answers. */
  readonly needs: readonly (readonly string[])[];
}

interface Shown {
  readonly ids: readonly string[];
}

interface Scores {
  readonly r3: number;
  readonly r5: number;
  readonly ndcg10: number;
}

type Search = (query: string, limit: number) => Promise<readonly { readonly id: string }[]>;

/** The exports of the folder's `lib.mjs` and `baselines.mjs`. */
interface QualityData {
  readonly SETS: readonly string[];
  readonly corpus: (set: string) => Corpus;
  readonly loadQueries: (set: string, split: 'dev') => readonly Question[];
  readonly score: (needs: Question['needs'], hits: readonly Shown[]) => Scores;
  readonly placeReader: (
    documents: readonly Document[],
  ) => (path: string, lines: readonly [number, number]) => string[];
  readonly paired: (
    ours: readonly Scores[],
    theirs: readonly Scores[],
    metric: 'ndcg10',
  ) => { readonly diff: number; readonly lo: number; readonly hi: number };
  readonly peers: Readonly<Record<string, (corpus: Corpus) => { search: Search } | Promise<{ search: Search }>>>;
}

const variable = 'PINNACE_GROUNDING_RETRIEVAL';
const root = join(import.meta.dirname, '../../..');
const compared = ['bm25 stemmed', 'minisearch tuned'];
const topK = 10;

/** Loads the folder that the environment names, or the one beside this project; `undefined` where there is none. */
async function loadData(): Promise<QualityData | undefined> {
  const folder = process.env[variable] ?? join(root, '../shared/bench/grounding-retrieval');
  if (!existsSync(join(folder, 'lib.mjs'))) return undefined;
  const load = (file: string): Promise<Record<string, unknown>> => import(pathToFileURL(join(folder, file)).href);
  const [lib, { BASELINES: peers }] = await Promise.all([load('lib.mjs'), load('baselines.mjs')]);
  return { ...lib, peers } as unknown as QualityData; // safe: the caller's own folder, whose README documents these exports
}

/** What a system found for each question of a set, and what it believes. */
interface Run {
  readonly scores: readonly Scores[];
  readonly judged: readonly JudgedHit[];
  /** For each question the chance that it is answered, and whether it is. */
  readonly answered: readonly JudgedHit[];
  readonly cpu: number;
}

const systems = ['text', 'vector', 'fused', 'code'] as const;
type System = (typeof systems)[number];

async function groundingOf(
  { documents, files }: Corpus,
  system: System,
): Promise<{ grounding: Grounding; ids: string[] }> {
  const text = textSource({ id: 'text' });
  const vector = vectorSource({ id: 'vector', embedder: hashedEmbedder() });
  const encoder = new TextEncoder();
  const code = codeSource({
    id: 'code',
    tree: () => () =>
      Promise.resolve({
        repo: 'bench',
        commit: 'bench',
        files: (async function* () {
          for (const { path, text: source } of files) {
            const bytes = encoder.encode(source);
            yield { path, size: bytes.length, read: () => Promise.resolve(bytes) };
          }
        })(),
      }),
  });
  const grounding = createGrounding({ sources: [text, vector, code] });
  const ids = { text: ['text'], vector: ['vector'], fused: ['text', 'vector'], code: ['code'] }[system];
  for (const dataSourceId of ids.filter((id) => id !== 'code')) {
    for (let from = 0; from < documents.length; from += 50) {
      const items = documents.slice(from, from + 50).map((one) => ({
        id: one.id,
        title: one.title.slice(0, 500),
        text: one.text,
        uri: one.id,
      }));
      await grounding.remember({ dataSourceId, items });
    }
  }
  return { grounding, ids };
}

async function runOf(data: QualityData, set: string, system: System): Promise<Run> {
  const corpus = data.corpus(set);
  const { grounding, ids } = await groundingOf(corpus, system);
  const place = data.placeReader(corpus.documents);
  const known = new Set(corpus.documents.map(({ id }) => id));
  const ask = (query: string) =>
    grounding.retrieve({ dataSourceIds: ids, query: query.slice(0, 4_096), topK, budgetMs: 60_000 });
  await ask('warm');
  const [scores, judged, answered]: [Scores[], JudgedHit[], JudgedHit[]] = [[], [], []];
  const questions = data.loadQueries(set, 'dev');
  const before = cpuMs();
  const answers = [];
  for (const { query } of questions) answers.push(await ask(query));
  const cpu = (cpuMs() - before) / questions.length;
  for (const [at, { needs }] of questions.entries()) {
    const { hits, answered: chance } = answers[at]!;
    const shown = hits.map(({ id, source }) => ({
      ids: known.has(id) ? [id] : place(source.path ?? '', linesOf(id)),
    }));
    if (needs.length > 0) scores.push(data.score(needs, shown));
    answered.push({ confidence: chance, relevant: needs.length > 0 });
    for (const [rank, { confidence }] of hits.entries()) {
      judged.push({ confidence, relevant: needs.some((need) => shown[rank]!.ids.some((id) => need.includes(id))) });
    }
  }
  return { scores, judged, answered, cpu };
}

/** The lines that were found, without those around them. */
function linesOf(id: string): readonly [number, number] {
  const [, from = '1', to = '1'] = /#L(\d+)-L(\d+)$/.exec(id) ?? [];
  return [Number(from), Number(to)];
}

async function peerScores(data: QualityData, set: string, name: string): Promise<readonly Scores[]> {
  const { search } = await data.peers[name]!(data.corpus(set));
  const scores: Scores[] = [];
  for (const { query, needs } of data.loadQueries(set, 'dev')) {
    if (needs.length === 0) continue;
    scores.push(data.score(needs, (await search(query, topK)).map(({ id }) => ({ ids: [id] }))));
  }
  return scores;
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const percent = (value: number): string => (100 * value).toFixed(1);

/** The mean of how many of the answered and of the unanswered questions are told apart at 0.5. */
function balancedAccuracy(judged: readonly JudgedHit[]): number {
  const of = (relevant: boolean): number =>
    mean(
      judged.filter((one) => one.relevant === relevant).map(({ confidence }) =>
        Number((confidence >= 0.5) === relevant)
      ),
    );
  return (of(true) + of(false)) / 2;
}

function rowOf(figure: string, scores: readonly Scores[], more = ''): Row {
  const value = `R@5 ${percent(mean(scores.map(({ r5 }) => r5)))}, nDCG@10 ${
    percent(mean(scores.map(({ ndcg10 }) => ndcg10)))
  }`;
  return { figure, value: `${value}${more}` };
}

/** Measures all sets and reports them; says so where there are no data. */
export async function measureQuality(): Promise<void> {
  const data = await loadData();
  if (!data) {
    skip(`quality: ${variable} must name the folder of the grounding-retrieval data`);
    return;
  }
  const rows: Row[] = [];
  const [judged, answered]: [JudgedHit[], JudgedHit[]] = [[], []];
  const errors: number[] = [];
  for (const set of data.SETS) {
    const best = set === 'code' ? 'code' : 'text';
    let ours: Run | undefined;
    const r3: Partial<Record<System, number>> = {};
    for (const system of systems) {
      if (system === 'code' && set !== 'code') continue;
      const run = await runOf(data, set, system);
      const error = calibrationError(run.judged);
      errors.push(error);
      r3[system] = mean(run.scores.map((one) => one.r3));
      rows.push(
        rowOf(`${set}, ${system}`, run.scores, `, calibration error ${error.toFixed(3)}, ${run.cpu.toFixed(2)} ms`),
      );
      if (system === 'text') {
        judged.push(...run.judged);
        answered.push(...run.answered);
      }
      if (system === best) ours = run;
    }
    rows.push(fusedRow(set, r3));
    for (const name of compared) rows.push(await peerRow(data, { set, name, ours: ours! }));
  }
  const told = balancedAccuracy(answered);
  const error = calibrationError(judged);
  rows.push(
    { figure: 'told apart at 0.5: answered here, or not', value: percent(told), bar: '>= 85', met: told >= 0.85 },
    { figure: 'calibration error of text, all sets', value: error.toFixed(3), bar: '<= 0.05', met: error <= 0.05 },
    largestErrorRow(Math.max(...errors)),
  );
  rows.push(await buildRow(data));
  report('Grounding: what is found, on the development questions', rows);
  if (process.argv.includes('--plot')) {
    writeFileSync(join(root, 'docs/pictures/grounding-calibration.svg'), calibrationPlot(judged, answered));
  }
}

/** What it takes to index the documents of all sets, beside the textbook's BM25 with stems. The first turn warms up. */
async function buildRow(data: QualityData): Promise<Row> {
  const corpora = data.SETS.map((set) => data.corpus(set));
  let [ours, theirs] = [0, 0];
  for (let turn = 0; turn < 4; turn++) {
    let before = cpuMs();
    for (const corpus of corpora) await groundingOf(corpus, 'text');
    ours = turn === 0 ? 0 : ours + cpuMs() - before;
    before = cpuMs();
    for (const corpus of corpora) await data.peers['bm25 stemmed']!(corpus);
    theirs = turn === 0 ? 0 : theirs + cpuMs() - before;
  }
  return {
    figure: `build of the text index, ${corpora.reduce((sum, { documents }) => sum + documents.length, 0)} documents`,
    value: `${(ours / 3).toFixed(0)} ms CPU`,
    peer: `stemmed BM25: ${(theirs / 3).toFixed(0)} ms`,
    ratio: (ours / theirs).toFixed(2),
    bar: '<= 2',
    met: ours <= 2 * theirs,
  };
}

/** A fused list finds no less than the better of its sources. */
function fusedRow(set: string, { text = 0, vector = 0, fused = 0 }: Partial<Record<System, number>>): Row {
  const best = Math.max(text, vector);
  return {
    figure: `${set}, fused beside the better source: R@3`,
    value: `${percent(fused)} beside ${percent(best)}`,
    bar: 'not less',
    met: fused >= best,
  };
}

function largestErrorRow(error: number): Row {
  return {
    figure: 'largest calibration error of a source or both, any set',
    value: error.toFixed(3),
    bar: '<= 0.05',
    met: error <= 0.05,
  };
}

async function peerRow(
  data: QualityData,
  { set, name, ours }: { readonly set: string; readonly name: string; readonly ours: Run },
): Promise<Row> {
  try {
    const scores = await peerScores(data, set, name);
    const { diff, lo, hi } = data.paired(ours.scores, scores, 'ndcg10');
    return rowOf(
      `${set}, beside: ${name}`,
      scores,
      `; ours ${diff >= 0 ? '+' : ''}${percent(diff)} [${percent(lo)}, ${percent(hi)}]`,
    );
  } catch (error) {
    return { figure: `${set}, beside: ${name}`, value: `not measured: ${String(error).slice(0, 60)}` };
  }
}
