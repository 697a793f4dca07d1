/**
 * Measures the structure of the code from its static imports, those of types included. Code that loads on demand counts as no
 * floor. `npm run house` prints the table; `test/node/house.test.ts` holds the limits.
 */

import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, posix, relative } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';

const root = join(import.meta.dirname, '../..');
export const areas = ['src', 'adapters', 'demo', 'test'] as const;

/** The structure of one area, such as `src`. */
export interface Structure {
  /** Lines of TypeScript and CSS. */
  readonly lines: number;
  readonly files: number;
  /** The files of the longest chain of imports inside the area. */
  readonly floors: number;
  /** The most folders that reach each other in a circle. */
  readonly knot: number;
  /** The sets of files that import each other. */
  readonly cycles: readonly (readonly string[])[];
  /** The files of at most 60 lines that only one neighbor in their folder imports. */
  readonly lone: readonly string[];
  readonly chain: readonly string[];
}

type Graph = ReadonlyMap<string, readonly string[]>;

/** Reads the work tree and measures each area. */
export async function measureHouse(): Promise<Readonly<Record<(typeof areas)[number], Structure>>> {
  const texts = new Map((await Promise.all(areas.map(readArea))).flat());
  const graph: Graph = new Map([...texts].map(([path, text]) => [path, importsOf(path, text, texts)]));
  const importers = Map.groupBy(
    [...graph].flatMap(([from, to]) => to.map((path) => [from, path] as const)),
    ([, to]) => to,
  );
  const measure = (area: string): Structure => {
    const files = [...texts].filter(([path]) => path.startsWith(`${area}/`));
    const inside: Graph = new Map(
      files.map(([path]) => [path, (graph.get(path) ?? []).filter((to) => to.startsWith(`${area}/`))]),
    );
    const chain = longestChain(inside);
    const isLone = ([path, text]: readonly [string, string]): boolean => {
      const [importer, ...others] = importers.get(path) ?? [];
      return path.endsWith('.ts') && linesOf(text) <= 60 && others.length === 0 && importer !== undefined &&
        dirname(importer[0]) === dirname(path);
    };
    return {
      lines: files.reduce((sum, [, text]) => sum + linesOf(text), 0),
      files: files.length,
      floors: chain.length,
      knot: Math.max(0, ...circlesOf(foldersOf(inside)).map((circle) => circle.length)),
      cycles: circlesOf(inside),
      lone: files.filter(isLone).map(([path]) => path),
      chain,
    };
  };
  return { src: measure('src'), adapters: measure('adapters'), demo: measure('demo'), test: measure('test') };
}

async function readArea(area: string): Promise<(readonly [string, string])[]> {
  const entries = await readdir(join(root, area), { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile() && /(?<!\.d)\.(?:tsx?|css)$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((path) => !path.includes('node_modules/'));
  return Promise.all(paths.map(async (path) => [path, await readFile(join(root, path), 'utf8')] as const));
}

function linesOf(text: string): number {
  return text.split('\n').length - 1;
}

const importPattern = /^\s*(?:import|export)\b[^'"();]*?\bfrom\s*['"]([^'"]+)['"]|^\s*import\s*['"]([^'"]+)['"]/gm;

function importsOf(path: string, text: string, files: ReadonlyMap<string, string>): readonly string[] {
  const specifiers = [...text.matchAll(importPattern)].map(([, from, bare]) =>
    (from ?? bare ?? '').replace(/\?.*/, '')
  );
  const targets = specifiers.filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => posix.join(posix.dirname(path), specifier));
  return [...new Set(targets)].filter((target) => target !== path && files.has(target));
}

/** Who imports whom, folder by folder. */
function foldersOf(graph: Graph): Graph {
  const folders = new Map<string, Set<string>>();
  for (const [from, to] of graph) {
    const folder = folders.get(dirname(from)) ?? new Set();
    folders.set(dirname(from), folder);
    for (const path of to) if (dirname(path) !== dirname(from)) folder.add(dirname(path));
  }
  return new Map([...folders].map(([folder, to]) => [folder, [...to]]));
}

/** The sets of nodes that reach each other, by Tarjan's algorithm. */
function circlesOf(graph: Graph): readonly (readonly string[])[] {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const circles: string[][] = [];
  const lowOf = (node: string): number => low.get(node) ?? Infinity;
  const visit = (node: string): void => {
    const position = index.size;
    index.set(node, position);
    low.set(node, position);
    stack.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!index.has(next)) visit(next);
      if (stack.includes(next)) low.set(node, Math.min(lowOf(node), lowOf(next)));
    }
    if (lowOf(node) !== position) return;
    const members = stack.splice(stack.indexOf(node));
    if (members.length > 1) circles.push(members.toSorted());
  };
  for (const node of graph.keys()) if (!index.has(node)) visit(node);
  return circles;
}

/** The longest chain of imports. The files of a cycle stand on one floor each. */
function longestChain(graph: Graph): readonly string[] {
  const circles = new Map(circlesOf(graph).flatMap((circle) => circle.map((node) => [node, circle] as const)));
  const chains = new Map<string, readonly string[]>();
  const chainOf = (node: string): readonly string[] => {
    const known = chains.get(node);
    if (known) return known;
    const circle = circles.get(node) ?? [node];
    const below = circle.flatMap((member) => graph.get(member) ?? []).filter((next) => !circle.includes(next)).map(
      chainOf,
    );
    const longest = below.reduce((best, chain) => chain.length > best.length ? chain : best, [] as readonly string[]);
    const chain = [...circle, ...longest];
    for (const member of circle) chains.set(member, chain);
    return chain;
  };
  return [...graph.keys()].map(chainOf).reduce((best, chain) => chain.length > best.length ? chain : best, []);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const house = await measureHouse();
  for (const area of areas) {
    const { lines, files, floors, knot, cycles, lone, chain } = house[area];
    console.log(
      `${area}: ${lines} lines, ${files} files, ${floors} floors, knot of ${knot} folders, ${cycles.length} cycles, ${lone.length} lone`,
    );
    if (process.argv.includes('--worst')) {
      console.log([...chain, ...cycles.flat(), ...lone].map((path) => `  ${path}`).join('\n'));
    }
  }
}
