import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as whole from '../../src/index.ts';
import * as events from '../../src/events/index.ts';
import * as permission from '../../src/permission/index.ts';
import * as tools from '../../src/tools/index.ts';
import * as discovery from '../../src/discovery/index.ts';
import * as grounding from '../../src/grounding/index.ts';
import * as planner from '../../src/planner/index.ts';
import * as registry from '../../src/registry/index.ts';
import * as tree from '../../src/tree/index.ts';

const root = join(import.meta.dirname, '../..');

async function read<T>(file: string): Promise<T> {
  return JSON.parse(await readFile(join(root, file), 'utf8')) as T; // of ours, and looked at below
}

type Exports = Readonly<Record<string, string>>;

describe('the package', () => {
  it('has the same entries for npm, for JSR and for the repository', async () => {
    const { exports: npm } = await read<{ exports: Exports }>('package.json');
    const { exports: jsr } = await read<{ exports: Exports }>('deno.json');
    const built = Object.entries(jsr).map(([name, source]) =>
      [name, source.replace('./', './dist/').replace(/\.ts$/, '.js')] as const
    );
    expect(npm).toEqual(Object.fromEntries(built));
    await Promise.all(Object.values(jsr).map((source) => access(join(root, source))));
    const { compilerOptions } = await read<{ compilerOptions: { paths: Readonly<Record<string, readonly string[]>> } }>(
      'tsconfig.json',
    );
    const { 'pinnace/*': adapters, ...doors } = compilerOptions.paths;
    expect(adapters).toEqual(['./adapters/*.ts']);
    const own = Object.entries(jsr).filter(([name, source]) => source !== `./adapters/${name.slice(2)}.ts`);
    expect(doors).toEqual(Object.fromEntries(own.map(([name, source]) => [`pinnace${name.slice(1)}`, [source]])));
  });

  it('packs the guides and the examples, and nothing of the playground, the tests and the pictures', async () => {
    const { files } = await read<{ files: readonly string[] }>('package.json');
    expect(files).toEqual(expect.arrayContaining(['dist', 'docs/*.md', 'demo/examples']));
    expect(files.filter((path) => /^(?:src|adapters|test|demo(?!\/examples|\/grafana)|docs\/(?!\*\.md))/.test(path)))
      .toEqual([]);
  });

  it('exports at most 90 names from pinnace, and each of its values from one other entry at most', () => {
    const values = Object.keys(whole);
    expect(values.length).toBeGreaterThan(10);
    const doors = [discovery, events, grounding, permission, planner, registry, tools, tree] as readonly object[];
    for (const name of values) expect(doors.filter((door) => name in door).length, name).toBeLessThanOrEqual(1);
  });

  it('documents every entry of the core', async () => {
    const { exports: jsr } = await read<{ exports: Exports }>('deno.json');
    const page = await readFile(join(root, 'docs/entries.md'), 'utf8');
    const core = Object.entries(jsr).filter(([, source]) => /^\.\/(src|test)\//.test(source));
    expect(core.length).toBeGreaterThan(10);
    for (const [name] of core) expect(page).toContain(`| \`pinnace${name.slice(1)}\` `);
  });

  it('documents every value that an entry of the core exports', async () => {
    const page = await readFile(join(root, 'docs/entries.md'), 'utf8');
    const doors = { pinnace: whole, discovery, events, grounding, permission, planner, registry, tools, tree };
    for (const [entry, door] of Object.entries(doors)) {
      const row = page.split('\n').find((line) =>
        line.startsWith(`| \`${entry === 'pinnace' ? entry : `pinnace/${entry}`}\` `)
      );
      expect(Object.keys(door).filter((name) => !row?.includes(`\`${name}\``)), entry).toEqual([]);
    }
  });
});
