/** `pinnace validate`: checks records and catalogs as the registry does. */

import { PinnaceError } from '../../../src/base/errors.ts';
import { asRecord } from '../../../src/base/is-record.ts';
import { checkJsonDepth } from '../../../src/base/json.ts';
import { createRegistry } from '../../../src/registry/registry.ts';
import { kindNames, readRecord, type RecordKind } from '../../../src/registry/record-kinds.ts';
import { memoryStorage } from '../../storage/memory.ts';
import { type Command, optionOf, readInput, type Terminal, UsageError } from '../command.ts';
import { findValue, type Place, syntaxErrorPlace } from '../json-places.ts';

const kinds: Readonly<Record<string, RecordKind | 'catalog'>> = {
  'agent': 'agent',
  'tool': 'tool',
  'provider': 'provider',
  'mcp-server': 'mcpServer',
  'data-source': 'dataSource',
  'catalog': 'catalog',
};

/** The command. */
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
    const data = parsed(text);
    if ('place' in data) return report(terminal, file, { ...data, message: 'is not JSON' });
    const kind = kindFrom(optionOf(given, 'kind'), data.value);
    try {
      const what = await check(kind, data.value);
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

function parsed(text: string): { readonly value: unknown } | { readonly place: Place | undefined } {
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

async function check(kind: RecordKind | 'catalog', data: unknown): Promise<string> {
  if (kind !== 'catalog') {
    const { id } = readRecord[kind](data, `the ${kindNames[kind]}`);
    return `the ${kindNames[kind]} "${id}" is valid`;
  }
  const { created } = await createRegistry({ storage: memoryStorage() }).import(data, { dryRun: true });
  return `the catalog is valid: ${created} records`;
}

interface Found {
  readonly path: string;
  readonly message: string;
}

/** What is wrong, each with its place; an error without places is one at the start. */
function issuesOf({ message, details }: PinnaceError): readonly Found[] {
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
