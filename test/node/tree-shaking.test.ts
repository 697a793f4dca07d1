import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build, type Plugin, type Rolldown } from 'vite';
import { describe, expect, it } from 'vitest';
import { packageAlias } from '../../demo/alias.ts';

const root = join(import.meta.dirname, '../..');

/** What `docs/adapters.md` promises of an import. */
interface Promised {
  readonly names: string;
  readonly from: string;
  /** Of 1,000 bytes. */
  readonly kB: number;
  readonly packages: readonly string[];
}

async function promises(): Promise<Promised[]> {
  const page = await readFile(join(root, 'docs/adapters.md'), 'utf8');
  return [...page.matchAll(/^\| `([^`]+)` from `([^`]+)`[^|]*\|\s*(\d+(?:\.\d)?)\s*\|([^|]*)\|$/gm)].map((row) => {
    const [, names = '', from = '', kB = '', packages = ''] = row;
    return { names, from, kB: Number(kB), packages: packages.split(',').map((name) => name.trim()).filter(Boolean) };
  });
}

function entry(line: string): Plugin {
  return {
    name: 'entry',
    resolveId: (id) => (id.endsWith('entry.ts') ? '\0entry' : undefined),
    load: (id) => (id === '\0entry' ? line : undefined),
  };
}

async function bundle({ names, from }: Promised): Promise<{ kB: number; packages: string[] }> {
  const result = await build({
    configFile: false,
    logLevel: 'error',
    root,
    resolve: { alias: [...packageAlias] },
    plugins: [entry(`export ${names} from '${from}';`)],
    build: {
      write: false,
      target: 'es2024',
      rolldownOptions: { input: 'entry.ts', preserveEntrySignatures: 'strict' },
    },
  });
  const { output } = (Array.isArray(result) ? result[0] : result) as Rolldown.RolldownOutput;
  const chunks = output.filter((item) => item.type === 'chunk');
  const modules = chunks.flatMap((chunk) => Object.entries(chunk.modules));
  const used = modules.filter(([, { renderedLength }]) => renderedLength > 0).map(([id]) => packageOf(id));
  const code = chunks.map((chunk) => chunk.code).join('');
  return {
    kB: gzipSync(code, { level: 9 }).length / 1000,
    packages: [...new Set(used.filter((name) => name !== undefined))].toSorted(),
  };
}

function packageOf(id: string): string | undefined {
  return /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id)?.[1];
}

describe('an import of a part of the package', async () => {
  const rows = await promises();

  it('is promised for every part', () => {
    const parts = ['tree', 'discovery', 'planner', 'grounding', 'registry', 'transport/client'];
    expect(rows.map(({ from }) => from)).toEqual(expect.arrayContaining(parts.map((part) => `pinnace/${part}`)));
  });

  it.each(rows)('$names from $from brings in what the documentation says', async (row) => {
    const { kB, packages } = await bundle(row);
    expect(packages).toEqual(row.packages.toSorted());
    expect(kB).toBeLessThanOrEqual(row.kB);
  });
});
