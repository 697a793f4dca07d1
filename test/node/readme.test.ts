import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';

const root = join(import.meta.dirname, '../..');

it('the lines of the README that compose a runtime run as they stand', async () => {
  const readme = await readFile(join(root, 'README.md'), 'utf8');
  const code = /```ts\n(import [^]*?)```/.exec(readme)?.[1] ?? '';
  expect(code.trim().split('\n').length).toBeLessThanOrEqual(20);
  const folder = join(root, 'node_modules/.cache/readme');
  await mkdir(folder, { recursive: true });
  // The package's own name resolves to its build; here it is its sources.
  const local = code.replace(/'pinnace'/, `'${root}/src/index.ts'`).replaceAll(
    /'pinnace\/([^']+)'/g,
    `'${root}/adapters/$1.ts'`,
  );
  await writeFile(join(folder, 'compose.ts'), local);
  const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  await import(/* @vite-ignore */ join(folder, 'compose.ts'));
  const chunks = log.mock.calls.map(([chunk]) => chunk as { type: string; output?: unknown });
  log.mockRestore();
  expect(chunks.find(({ type }) => type === 'tool-output-available')?.output).toBe(5);
  expect(chunks.at(-1)?.type).toBe('finish');
});
