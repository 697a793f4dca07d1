/** `pinnace validate`: checks records and catalogs as the registry does. */

import { PinnaceError } from '../../src/base/errors.ts';
import { asRecord } from '../../src/base/is-record.ts';
import { checkJsonDepth } from '../../src/base/json.ts';
import { pathText } from '../../src/base/parse.ts';
import { kindNames, readRecord, type RecordKind } from '../../src/registry/record-kinds.ts';
import { createRegistry } from '../../src/registry/registry.ts';
import { memoryStorage } from '../storage/memory.ts';
import { type Command, optionOf, readInput, type Terminal, UsageError } from './command.ts';

const kinds: Readonly<Record<string, RecordKind | 'catalog'>> = {
  'agent': 'agent',
  'tool': 'tool',
  'provider': 'provider',
  'mcp-server': 'mcpServer',
  'data-source': 'dataSource',
  'catalog': 'catalog',
};

export const validate: Command = {
  summary: 'Check an agent, a tool, another record or a catalog in a JSON file',
  usage: `pinnace validate FILE [--kind ${Object.keys(kinds).join('|')}]

  FILE      a JSON file; - reads the standard input
  --kind K  what it holds; guessed from its fields when absent

Prints FILE:LINE:COLUMN, the field and what would be right. The exit code is 1 when something is wrong.`,
  options: { kind: { type: 'string' } },
  args: [1, 1],
  async run(given, terminal) {
    const [file = ''] = given.args;
    const text = file === '-' ? await terminal.stdin() : await readInput(file, 'FILE');
    checkJsonDepth(text);
    const data = parsedJson(text);
    if ('place' in data) return report(terminal, file, { ...data, message: 'is not JSON' });
    const kind = kindFrom(optionOf(given, 'kind'), data.value);
    try {
      const what = await checkRecord(kind, data.value);
      terminal.out(`${file}: ${what}\n`);
      return 0;
    } catch (error) {
      if (!(error instanceof PinnaceError)) throw error;
      for (const { path, message } of issuesOf(error)) {
        report(terminal, file, { place: findValue(text, path), path, message });
      }
      return 1;
    }
  },
};

function parsedJson(text: string): { readonly value: unknown } | { readonly place: Place | undefined } {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { place: syntaxErrorPlace(text, error) };
  }
}

function kindFrom(name: string | undefined, data: unknown): RecordKind | 'catalog' {
  const known = name !== undefined && Object.hasOwn(kinds, name) ? kinds[name] : undefined;
  if (name !== undefined && !known) throw new UsageError(`The kind is one of ${Object.keys(kinds).join(', ')}`);
  const kind = known ?? guess(asRecord(data));
  if (kind) return kind;
  throw new UsageError('Cannot tell what the file holds: pass --kind');
}

function guess(fields: Readonly<Record<string, unknown>>): RecordKind | 'catalog' | undefined {
  if ('format' in fields) return 'catalog';
  if ('providerId' in fields || 'entryTools' in fields) return 'agent';
  if ('paramsSchema' in fields) return 'tool';
  if ('alias' in fields) return 'mcpServer';
  return undefined;
}

async function checkRecord(kind: RecordKind | 'catalog', data: unknown): Promise<string> {
  if (kind !== 'catalog') {
    const { id } = readRecord[kind](data, `the ${kindNames[kind]}`);
    return `the ${kindNames[kind]} "${id}" is valid`;
  }
  const { created } = await createRegistry({ storage: memoryStorage() }).import(data, { dryRun: true });
  return `the catalog is valid: ${created} records`;
}

interface Issue {
  readonly path: string;
  readonly message: string;
}

function issuesOf({ message, details }: PinnaceError): readonly Issue[] {
  const given: unknown = details?.['issues'];
  const issues = Array.isArray(given) ? given.map(asRecord) : [];
  const found = issues.map(({ path, message: why }) => ({
    path: typeof path === 'string' ? path : '',
    message: String(why),
  }));
  return found.length > 0 ? found : [{ path: '', message }];
}

function report(
  { err }: Terminal,
  file: string,
  { place, path = '', message }: {
    readonly place: Place | undefined;
    readonly path?: string;
    readonly message: string;
  },
): number {
  const where = place ? `${file}:${place.line}:${place.column}` : file;
  err(`${where}: ${path === '' ? '' : `"${path}" `}${message}\n`);
  return 1;
}

interface Place {
  readonly line: number;
  readonly column: number;
}

function placeOf(text: string, offset: number): Place {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/** Returns the place of a syntax error; the engine's message, which may repeat the text, is not shown. */
function syntaxErrorPlace(text: string, error: unknown): Place | undefined {
  const message = error instanceof Error ? error.message : '';
  const offset = /position (\d+)/.exec(message)?.[1];
  if (offset !== undefined) return placeOf(text, Number(offset));
  return /end of JSON input|Unterminated/.test(message) ? placeOf(text, text.trimEnd().length) : undefined;
}

/**
 * Returns the place of the value at a path as issues name it (`limits.steps`, `agents.0.name`): of a missing one, the place of what
 * should contain it. The text must be valid JSON.
 */
function findValue(text: string, path: string): Place {
  const places = placesIn(text);
  for (let names = path === '' ? [] : path.split('.');; names = names.slice(0, -1)) {
    const found = places.get(names.join('.'));
    if (found !== undefined || names.length === 0) return placeOf(text, found ?? 0);
  }
}

/** The offset of each value by its path. */
function placesIn(text: string): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  const tokens = text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+/g);
  /** The open objects and arrays: the name of the next value in each. */
  const open: { readonly isArray: boolean; name: string; isKey: boolean; index: number }[] = [];
  for (const { 0: token, index: at } of tokens) {
    const inner = open.at(-1);
    if (token === ',' && inner) {
      inner.isKey = !inner.isArray;
      inner.name = String(++inner.index);
    } else if (token === '}' || token === ']') open.pop();
    else if (inner?.isKey && token.startsWith('"')) inner.name = String(JSON.parse(token));
    else if (token === ':' && inner) inner.isKey = false;
    else if (token !== ',' && token !== ':') {
      places.set(pathText(open.map(({ name }) => name)), at);
      if (token === '{') open.push({ isArray: false, name: '', isKey: true, index: 0 });
      if (token === '[') open.push({ isArray: true, name: '0', isKey: false, index: 0 });
    }
  }
  return places;
}
