import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAst } from 'vite';

const root = join(import.meta.dirname, '../..');
const most = { linesOfFunction: 60, names: 90 };

/** What does not fit yet. These lists only become shorter. */
const notYet = {
  functions: [] as readonly string[],
  /** One or two files of each cycle. */
  cycles: [] as readonly string[],
  names: 0,
};

async function pathsUnder(...folders: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(folders.map(async (folder) => {
    const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => relative(root, join(entry.parentPath, entry.name)));
  }));
  return found.flat().toSorted();
}

const isCode = (path: string): boolean => /\.tsx?$/.test(path);
const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8');

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value && 'end' in value;
}

/** The node and all below it. */
function* nodesOf(node: Node): Generator<Node> {
  yield node;
  for (const value of Object.values(node)) {
    for (const child of [value].flat()) if (isNode(child)) yield* nodesOf(child);
  }
}

/** The functions of a file that are too long, as `path:line (lines)`. */
async function longFunctions(path: string): Promise<readonly string[]> {
  const text = await read(path);
  const lineOf = (offset: number): number => text.slice(0, offset).split('\n').length;
  const functions = [...nodesOf(parseAst(text, { lang: path.endsWith('x') ? 'tsx' : 'ts' }))]
    .filter(({ type }) => /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(type));
  return functions.flatMap(({ start, end }) => {
    const lines = text.slice(start, end).split('\n').length;
    return lines > most.linesOfFunction ? [`${path}:${lineOf(start)} (${lines})`] : [];
  });
}

/** What each file imports of the others, types included. */
async function importsOf(paths: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const pattern = /^(?:import|export)\s+(?:type\s)?(?:[^'";]*?\sfrom\s+)?'(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm;
  const pairs = await Promise.all(paths.map(async (path) => {
    const found = [...(await read(path)).matchAll(pattern)].map(([, fixed, dynamic]) =>
      relative(root, join(root, dirname(path), fixed ?? dynamic ?? ''))
    );
    return [path, found.filter((to) => paths.includes(to))] as const;
  }));
  return new Map(pairs);
}

/** The sets of files that import each other, by Tarjan's algorithm. */
function cyclesOf(imports: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const cycles: string[][] = [];
  const lowOf = (path: string): number => low.get(path) ?? Infinity;
  const visit = (path: string): void => {
    const own = index.size;
    index.set(path, own);
    low.set(path, own);
    stack.push(path);
    for (const next of imports.get(path) ?? []) {
      if (!index.has(next)) visit(next);
      if (stack.includes(next)) low.set(path, Math.min(lowOf(path), lowOf(next)));
    }
    if (lowOf(path) !== own) return;
    const members = stack.splice(stack.indexOf(path));
    if (members.length > 1) cycles.push(members.toSorted());
  };
  for (const path of imports.keys()) if (!index.has(path)) visit(path);
  return cycles;
}

describe('the house', () => {
  it('has no cycle of imports, types included', async () => {
    const imports = await importsOf((await pathsUnder('src', 'adapters')).filter(isCode));
    expect([...imports.values()].flat().length).toBeGreaterThan(1000); // the search finds imports at all
    const unknown = cyclesOf(imports).filter((cycle) => !cycle.some((path) => notYet.cycles.includes(path)));
    expect(unknown).toEqual([]);
  });

  it(`has no function of more than ${most.linesOfFunction} lines`, async () => {
    const paths = (await pathsUnder('src', 'adapters')).filter(isCode);
    const long = (await Promise.all(paths.map(longFunctions))).flat();
    const pathOf = (found: string): string => found.replace(/:.*/, '');
    expect(long.filter((found) => !notYet.functions.includes(pathOf(found)))).toEqual([]);
  });

  it(`exports at most ${most.names} names from its main entry`, async () => {
    const text = (await read('src/index.ts')).replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
    const lists = [...text.matchAll(/export\s+(?:type\s+)?\{([^}]*)\}/g)];
    const names = lists.flatMap(([, list = '']) => list.split(',').filter((name) => name.trim() !== ''));
    expect(names.length).toBeGreaterThan(20); // the search finds names at all
    expect(text).not.toMatch(/export\s+\*/);
    expect(names.length).toBeLessThanOrEqual(Math.max(most.names, notYet.names));
  });
});
