import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, type Rolldown } from 'vite';
import { beforeAll, describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../../..');
let chunks: Rolldown.OutputChunk[];

beforeAll(async () => {
  const outDir = await mkdtemp(join(tmpdir(), 'pinnace-bundle-')); // the list of offline files reads it
  const result = await build({
    configFile: join(root, 'vite.config.ts'),
    logLevel: 'warn',
    build: { write: false, sourcemap: false, outDir },
    worker: { format: 'es' },
  });
  await rm(outDir, { recursive: true });
  const { output } = (Array.isArray(result) ? result[0] : result) as Rolldown.RolldownOutput;
  const worker = output.filter((item) => item.type === 'asset' && item.fileName.endsWith('.js'));
  chunks = [...output.filter((item) => item.type === 'chunk'), ...worker as unknown as Rolldown.OutputChunk[]];
});

/** The code of every file of the build, the worker's among them. */
function code(): { name: string; text: string }[] {
  return chunks.map((chunk) => ({
    name: chunk.fileName,
    text: chunk.type === 'chunk' ? chunk.code : String((chunk as unknown as Rolldown.OutputAsset).source),
  }));
}

describe('the browser bundle', () => {
  it('has the page and the worker', () => {
    expect(code().some(({ name, text }) => name.includes('worker') && text.includes('doStream'))).toBe(true);
  });

  it.each([
    ['WebAssembly', /\bWebAssembly\b/],
    ['a Node built-in', /(?:from|import\()\s*["'`]node:|\brequire\(\s*["'`]/],
    ['eval', /[^.\w]eval\(/],
    ['a function made of text', /new Function\(/],
  ])('has no %s', (_what, forbidden) => {
    const found = code().flatMap(({ name, text }) => {
      const at = text.search(forbidden);
      return at < 0 ? [] : [`${name}: ${text.slice(Math.max(0, at - 60), at + 60)}`];
    });
    expect(found).toEqual([]);
  });
});
