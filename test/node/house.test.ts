import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAst } from 'vite';
import { areas, measureHouse } from '../tools/house.ts';

const root = join(import.meta.dirname, '../..');
const most = { linesOfFunction: 60, names: 90, longInDemo: 28 };

/** The structure of each area (`test/tools/house.ts`). These numbers only fall. */
const limits = {
  src: { lines: 79_944, floors: 22, knot: 3, cycles: 0, lone: 0 },
  adapters: { lines: 39_341, floors: 12, knot: 3, cycles: 0, lone: 1 },
  demo: { lines: 59_837, floors: 14, knot: 0, cycles: 0, lone: 3 },
  test: { lines: 124_530, floors: 9, knot: 5, cycles: 0, lone: 16 },
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

describe('the house', () => {
  it('has few floors, no knots, no lone files and no more lines than it had', async () => {
    const house = await measureHouse();
    const over = areas.flatMap((area) => {
      const { lines, floors, knot, cycles, lone } = house[area];
      const measured = { lines, floors, knot, cycles: cycles.length, lone: lone.length };
      return Object.entries(limits[area]).flatMap(([measure, limit]) => {
        const value = measured[measure as keyof typeof measured]; // safe: both have the same names
        return value > limit ? [`${area}: ${measure} ${value} of ${limit}`] : [];
      });
    });
    expect(house.src.files + house.demo.files).toBeGreaterThan(100); // the meter finds files at all
    expect(over, 'see npm run house -- --worst').toEqual([]);
  });

  it(`has no function of more than ${most.linesOfFunction} lines, in demo no more than it had`, async () => {
    const longIn = async (...folders: readonly string[]): Promise<readonly string[]> =>
      (await Promise.all((await pathsUnder(...folders)).filter(isCode).map(longFunctions))).flat();
    expect(await longIn('src', 'adapters')).toEqual([]);
    const inDemo = await longIn('demo');
    expect(inDemo.length, inDemo.join('\n')).toBeLessThanOrEqual(most.longInDemo);
  });

  it(`exports at most ${most.names} names from its main entry`, async () => {
    const text = (await read('src/index.ts')).replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
    const lists = [...text.matchAll(/export\s+(?:type\s+)?\{([^}]*)\}/g)];
    const names = lists.flatMap(([, list = '']) => list.split(',').filter((name) => name.trim() !== ''));
    expect(names.length).toBeGreaterThan(20); // the search finds names at all
    expect(text).not.toMatch(/export\s+\*/);
    expect(names.length).toBeLessThanOrEqual(most.names);
  });
});
