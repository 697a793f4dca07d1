/** The tool catalogues and queries that discovery is measured with: a folder that the environment names, not part of this project. */

import { join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import type { IndexedTool, ToolHit } from '../../../src/discovery/index.ts';
import { skip } from '../measure.ts';

/** A query with the tools that it needs; each need has alternatives. */
export interface BenchQuery {
  readonly query: string;
  readonly needs: readonly (readonly string[])[];
}

/** Anything that ranks tools. */
export interface Searcher {
  search(query: string, limit: number): readonly ToolHit[] | Promise<readonly ToolHit[]>;
}

/** Makes a ranker of tools. */
export type CreateSearcher = (tools: readonly IndexedTool[]) => Searcher | Promise<Searcher>;

/** The exports of the folder's `lib.mjs` and `baselines.mjs`. */
export interface BenchData {
  readonly sets: readonly string[];
  readonly catalog: (set: string) => readonly IndexedTool[];
  readonly loadQueries: (set: string) => readonly BenchQuery[];
  readonly scaleCatalog: (size: number) => readonly IndexedTool[];
  readonly score: (
    needs: BenchQuery['needs'],
    names: readonly string[],
  ) => { readonly r1: number; readonly r5: number };
  readonly peers: Readonly<Record<string, CreateSearcher>>;
}

const variable = 'PINNACE_TOOL_RETRIEVAL';

/** Loads the folder and those of the named peers that are installed. Says what is missing. */
export async function loadBenchData(compared: readonly string[]): Promise<BenchData | undefined> {
  const folder = process.env[variable];
  if (folder === undefined) {
    skip(`everything: ${variable} must name the folder of the tool-retrieval data, with its packages installed`);
    return undefined;
  }
  const load = (file: string): Promise<Record<string, unknown>> => import(pathToFileURL(join(folder, file)).href);
  const [lib, { BASELINES: all }] = await Promise.all([load('lib.mjs'), load('baselines.mjs')]);
  const peers: Record<string, CreateSearcher> = {};
  for (const name of compared) {
    try {
      const create = (all as BenchData['peers'])[name]!; // safe: as below
      await (await create([{ name: 'get_weather', description: 'Tells the weather' }])).search('weather', 1);
      peers[name] = create;
    } catch (error) {
      skip(`${name} (${String(error).split('\n')[0]})`);
    }
  }
  // safe: the caller's own folder, whose README documents these exports
  return { ...lib, sets: Object.keys(lib.SETS as object), peers } as unknown as BenchData;
}
