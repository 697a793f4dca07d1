import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import type { Authorize } from '../../src/ports.ts';
import { localPrincipal } from '../../src/runtime/principal.ts';

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

it('the rules of the README decide as it says', async () => {
  const readme = await readFile(join(root, 'README.md'), 'utf8');
  const code = /```ts\n(const authorize = createRules\([^]*?\]\);)/.exec(readme)?.[1] ?? '';
  const folder = join(root, 'node_modules/.cache/readme');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'rules.ts'), `import { createRules } from '${root}/src/index.ts';\nexport ${code}\n`);
  const { authorize } = await import(/* @vite-ignore */ join(folder, 'rules.ts')) as { authorize: Authorize }; // as written
  const call = async (tool: string, input: unknown = {}) =>
    await authorize('tool.call', localPrincipal(), { type: 'tool', id: tool }, { input, agentId: 'support' });
  expect((await call('crm_find')).decision).toBe('allow');
  expect(await call('crm_export')).toEqual({ decision: 'deny', reason: 'rule "no-export": data stays here' });
  expect((await call('crm_refund', { amount: 20 })).decision).toBe('allow');
  expect(await call('crm_refund', { amount: 200 })).toEqual({ decision: 'ask', reason: 'rule "large-refund"' });
  expect((await call('crm_refund', { amount: '20' })).decision).toBe('deny');
  expect((await call('mail_send')).decision).toBe('deny');
  expect((await authorize('registry.update', localPrincipal(), { type: 'tool', id: 'x' }, {})).decision).toBe('allow');
});
