import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');

interface Import {
  readonly from: string;
  /** A path from the root, or a package's name. */
  readonly to: string;
  readonly typeOnly: boolean;
  /** Loaded when it is needed. */
  readonly onDemand: boolean;
}

async function importsUnder(...folders: string[]): Promise<Import[]> {
  const files = await Promise.all(folders.map(async (folder) => {
    const names = await readdir(join(root, folder), { recursive: true });
    return names.filter((name) => /\.tsx?$/.test(name)).map((name) => join(folder, name));
  }));
  return (await Promise.all(files.flat().map(importsOf))).flat();
}

async function importsOf(from: string): Promise<Import[]> {
  const text = await readFile(join(root, from), 'utf8');
  const found = text.matchAll(/^(?:import|export)\s+(type\s)?(?:[^'";]*?\sfrom\s+)?'([^']+)'|\bimport\('([^']+)'\)/gm);
  return [...found].map(([, type, fixed, dynamic]) => {
    const specifier = fixed ?? dynamic ?? '';
    const to = specifier.startsWith('.') ? relative(root, join(root, dirname(from), specifier)) : packageOf(specifier);
    return { from, to, typeOnly: type !== undefined, onDemand: dynamic !== undefined };
  });
}

function packageOf(specifier: string): string {
  return specifier.split('/').slice(0, specifier.startsWith('@') ? 2 : 1).join('/');
}

const isLocal = ({ to }: Import): boolean => /^(src|adapters|demo|test)\//.test(to);
const show = ({ from, to }: Import): string => `${from} -> ${to}`;
/** The rooms of `src`, lowest first. A file imports from its own room or a lower one, for types as well. Rooms of one line are equals. */
const order = [
  ['base'],
  ['search'],
  ['contracts'],
  ['log'],
  ['events'],
  ['permission'],
  ['tools'],
  ['registry', 'discovery', 'grounding', 'mcp', 'planner'],
  ['runtime'],
];
/** The rooms that nothing in the core imports: they plug in through what `createRuntime` takes, or it loads them and hands them in. */
const optional = ['tree', 'programs', 'forks', 'schedules', 'inbox', 'webhooks', 'evals', 'simulation', 'undo'];
const folderOf = (path: string): string => path.split('/')[1] ?? '';
const isOptional = (path: string): boolean => path.startsWith('src/') && optional.includes(folderOf(path));
const isDoor = (path: string): boolean => path === 'src/index.ts' || path === 'src/create-runtime.ts';

/** The height of a room; the optional rooms stand above the core. */
function heightOf(path: string): number {
  const height = order.findIndex((equals) => equals.includes(folderOf(path)));
  return height === -1 ? order.length : height;
}

describe('imports', () => {
  it('go from adapters to src and never back', async () => {
    const wrong = (await importsUnder('src')).filter((arrow) => isLocal(arrow) && !arrow.to.startsWith('src/'));
    expect(wrong.map(show)).toEqual([]);
    const outward = (await importsUnder('adapters')).filter(({ to }) => /^(demo|test)\//.test(to));
    expect(outward.map(show)).toEqual([]);
  });

  it('lead down the drawn order of rooms', async () => {
    const inside = (await importsUnder('src')).filter((arrow) => isLocal(arrow) && !isDoor(arrow.from));
    expect(inside.length).toBeGreaterThan(500); // the search finds imports at all
    const between = inside.filter(({ from, to }) => folderOf(from) !== folderOf(to));
    const up = between.filter(({ from, to }) => !isOptional(from) && heightOf(to) >= heightOf(from) && !isOptional(to));
    expect(up.map(show)).toEqual([]);
    const unknown = inside.filter(({ from }) => ![...order.flat(), ...optional].includes(folderOf(from)));
    expect(unknown.map(show)).toEqual([]);
  });

  it('never lead from the core to an optional room', async () => {
    const fromCore = (await importsUnder('src')).filter(({ from }) => !isOptional(from) && from !== 'src/index.ts');
    const handedIn = ({ from, onDemand }: Import): boolean => from === 'src/create-runtime.ts' && onDemand;
    expect(fromCore.filter((arrow) => isOptional(arrow.to) && !handedIn(arrow)).map(show)).toEqual([]);
  });

  it('of packages stand behind one door each', async () => {
    const doors: Readonly<Record<string, RegExp>> = {
      'valibot': /^(src|adapters\/(transport|grounding\/code|cli))\//,
      '@valibot/to-json-schema': /^src\/base\/json-schema-of\.ts$/,
      '@cfworker/json-schema': /^src\/tools\/json-schema\//,
      '@ai-sdk/provider': /^adapters\/models\//,
      '@ai-sdk/openai-compatible': /^adapters\/models\/openai-compatible\.ts$/,
      'croner': /^src\/schedules\/when\.ts$/,
      'comlink': /^adapters\/transport\/comlink\.ts$/,
      'hono': /^adapters\/transport\/(http\/|handler\.ts$)/,
      'jose': /^adapters\/transport\//,
      'http-message-sig': /^adapters\/transport\/signed\/signature\.ts$/,
      'saxes': /^adapters\/grounding\/office\/xml\.ts$/,
      'papaparse': /^src\/grounding\/ingest\/csv\.ts$/,
      'htmlparser2': /^src\/grounding\/ingest\/read-html\.ts$/,
      'unzipit': /^adapters\/grounding\/zip\.ts$/,
      'unpdf': /^adapters\/grounding\/pdf-reader\.ts$/,
      'stemmer': /^src\/search\/terms\.ts$/,
      'structured-headers': /^adapters\/transport\//,
      'eventsource-parser': /^adapters\/(transport\/client|mcp\/relay|models\/model-answer)/,
      '@modelcontextprotocol/sdk': /^adapters\/(mcp|transport\/mcp-server)\/sdk\.ts$/,
      '@modelcontextprotocol/server': /^adapters\/transport\/mcp-server\/sdk-2026\.ts$/,
      '@modelcontextprotocol/client': /^adapters\/mcp\/sdk-2026\.ts$/,
      'idb-keyval': /^adapters\/storage\/indexeddb\.ts$/,
      'cockatiel': /^adapters\/egress\/circuits\.ts$/,
      '@opentelemetry/api': /^adapters\/(sinks\/(lazy-)?otel|egress\/active-trace)/,
      'node:util': /^adapters\/cli\//,
      'node:path': /^adapters\/cli\//,
      'node:fs': /^adapters\/(cli\/|skills\.ts$|grounding\/code\/folder-tree\.ts$|sandbox\/node\.ts$)/,
      'node:child_process': /^adapters\/sandbox\/node\.ts$/,
      'node:url': /^adapters\/cli\//,
      'node:v8': /^adapters\/storage\/value-codec\.ts$/,
      'react': /^adapters\/react\.ts$/,
      'postgres': /^adapters\/node\/postgres-default\.ts$/,
      'node:process': /^adapters\/(node\.ts$|sandbox\/node\.ts$|cli\/)/,
      'node:stream': /^adapters\/(node\/listener\.ts$|cli\/)/,
      'node:buffer': /^adapters\/(storage\/postgres-commit\.ts$|cli\/)/,
      'node:http': /^adapters\/egress\/pinned-socket\.ts$/,
      'node:https': /^adapters\/egress\/pinned-socket\.ts$/,
      'node:tls': /^adapters\/egress\/pinned-socket\.ts$/,
      'node:dns': /^adapters\/egress\/pinned-socket\.ts$/,
      'node:net': /^adapters\/egress\//,
    };
    const packages = (await importsUnder('src', 'adapters')).filter((arrow) => !isLocal(arrow));
    // Types are erased: they may be imported where they are needed, the AI SDK's through one file all the same.
    const wrong = packages.filter(({ from, to, typeOnly }) =>
      typeOnly ? to === 'ai' && from !== 'src/contracts/ai-types.ts' : !doors[to]?.test(from)
    );
    expect(wrong.map(show)).toEqual([]);
    expect(packages.length).toBeGreaterThan(10); // the search finds imports at all
  });
});
