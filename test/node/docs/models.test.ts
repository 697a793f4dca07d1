import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { differences } from '../../fixtures/loop/differences.ts';

const root = join(import.meta.dirname, '../../..');

async function read(path: string): Promise<string> {
  return (await readFile(join(root, path), 'utf8')).replaceAll(/\s+/g, ' ');
}

interface Package {
  readonly version: string;
}

describe('the guide of models', () => {
  it('lists every intended difference to streamText', async () => {
    const guide = await read('docs/models.md');
    const reasons = Object.values(differences).map(({ reason }) => `- ${reason}.`);
    expect(reasons.filter((reason) => !guide.includes(reason))).toEqual([]);
  });

  it('names the versions that the tests run with', async () => {
    const guide = await read('docs/models.md');
    const named = [...guide.matchAll(/`(ai|@ai-sdk\/[a-z-]+)` (\d+\.\d+\.\d+)/g)];
    expect(named.length).toBeGreaterThan(4);
    for (const [, name, version] of named) {
      const installed = JSON.parse(await read(`node_modules/${name}/package.json`)) as Package; // as npm writes it
      expect([name, version]).toEqual([name, installed.version]);
    }
  });
});
