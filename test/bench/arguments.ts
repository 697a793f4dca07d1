/** The arguments of `npm run bench`, and its help. */

import { parseArgs } from 'node:util';

export interface Arguments {
  readonly wanted: readonly string[];
  /** Whether to write the pages. */
  readonly readme: boolean;
  readonly runs: number;
  readonly minutes: number;
}

/** Benchmarks that measure more with data or programs that are not part of this project. */
const wishes: Readonly<Record<string, string>> = {
  chaos: 'half an hour; PostgreSQL, faketime (apt-get install postgresql faketime); the rights of root for a full disk',
  discovery: 'PINNACE_TOOL_RETRIEVAL: the folder of the tool-retrieval data; nothing is measured without it',
  grounding:
    'PINNACE_GROUNDING_RETRIEVAL: the folder of the grounding-retrieval data; PINNACE_GROUNDING_PEERS: of peers',
  paced: 'PostgreSQL (apt-get install postgresql)',
  planner: 'PINNACE_BENCH_PEERS: a folder whose node_modules has the peers',
  'short-runs': 'PostgreSQL (apt-get install postgresql)',
  soak: 'takes the time of --minutes',
  tree: 'PINNACE_BENCH_PEERS: a folder whose node_modules has the peers',
};

/** Returns the help, with the names of all benchmarks. */
export function usageOf(names: readonly string[]): string {
  const width = Math.max(...names.map((name) => name.length));
  return [
    'Usage: npm run bench -- [options] [name ...]',
    '',
    'Runs the named benchmarks, or all, and prints what this machine cannot measure.',
    '',
    '  --runs=N       run each N times and take the medians (default 1)',
    '  --minutes=N    duration of the soak (default 20)',
    '  --without=a,b  run all but these',
    '  --readme       write the figures into README.md, docs/figures.md and docs/pictures; without --all or names,',
    '                 measure nothing and write those of earlier runs',
    '  --all          measure everything, with --readme too',
    '  --help         show this text',
    '',
    'Benchmarks, and what they use if it is there:',
    '',
    ...names.map((name) => `  ${name.padEnd(width)}  ${wishes[name] ?? ''}`.trimEnd()),
  ].join('\n');
}

/** Reads the arguments; `undefined` for `--help`. Throws what is wrong with them. */
export function readArguments(given: readonly string[], names: readonly string[]): Arguments | undefined {
  const { values: { all, readme, help, ...texts }, positionals } = parseArgs({
    args: [...given],
    allowPositionals: true,
    options: {
      all: { type: 'boolean', default: false },
      readme: { type: 'boolean', default: false },
      runs: { type: 'string', default: '1' },
      minutes: { type: 'string', default: '20' },
      without: { type: 'string', default: '' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (help) return undefined;
  const without = texts.without.split(',').filter((name) => name !== '');
  const unknown = [...positionals, ...without].filter((name) => !names.includes(name));
  if (unknown.length > 0) throw new Error(`No benchmark ${unknown.join(', ')}`);
  const [runs, minutes] = [Number(texts.runs), Number(texts.minutes)];
  if (!Number.isSafeInteger(runs) || runs < 1) throw new Error('--runs must be a whole number above 0');
  if (!(minutes > 0)) throw new Error('--minutes must be a number above 0');
  const named = positionals.length > 0 ? positionals : readme && !all ? [] : names;
  return { wanted: named.filter((name) => !without.includes(name)), readme, runs, minutes };
}
