import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8');
const generated = ['figures.md'];
const guides = (await readdir(join(root, 'docs'))).filter((name) => name.endsWith('.md') && !generated.includes(name));

describe('the guides', () => {
  it.each(guides)('keep to 150 lines: %s', async (name) => {
    expect((await read(`docs/${name}`)).split('\n').length).toBeLessThanOrEqual(151);
  });

  it.each(['tools', 'approvals', 'discovery', 'mcp', 'tree', 'grounding', 'registry', 'planner'])(
    'link to the effects of a stop, a repeat and a full storage: %s',
    async (name) => {
      expect(await read(`docs/${name}.md`)).toContain('runs.md#stops-repeats-and-a-full-storage');
    },
  );

  it('name every setting that the sample endpoints read from their environment', async () => {
    const deploy = await read('docs/deploy.md');
    const sources = await Promise.all(['demo/server.ts', 'demo/examples/deno-endpoint.ts'].map(read));
    const names = sources.flatMap((source) =>
      [...source.matchAll(/(?:env\.get|listOf|setting)\('([A-Z_]+)'/g)].map(([, name = '']) => name)
    );
    expect(names.length).toBeGreaterThan(8);
    expect(names.filter((name) => !deploy.includes(`\`${name}\``))).toEqual([]);
  });
});

it('has in the changelog an upgrade note for every breaking change', async () => {
  const text = await read('CHANGELOG.md');
  const listed = text.split(/^(?=### )/m).filter((section) => section.startsWith('### Breaking changes'));
  const entries = [
    ...listed.flatMap((section) => section.split(/^(?=- )/m).slice(1)),
    ...text.split(/^(?=- )/m).filter((entry) => /\*\*Breaking/.test(entry)),
  ];
  expect(entries.length).toBeGreaterThan(5);
  expect(entries.filter((entry) => !entry.includes('_Upgrade_:'))).toEqual([]);
});
