import { expect, it } from 'vitest';
import { indexedDbStorage } from '../../adapters/storage/indexeddb.ts';

it('takes a worker for alive while it is blocked, and for ended when it is killed', async () => {
  const name = `test-${crypto.randomUUID()}`;
  const worker = new Worker(new URL('./presence-worker.ts', import.meta.url), { type: 'module' });
  const shown = new Promise((resolve) => worker.addEventListener('message', resolve));
  worker.postMessage(name);
  await shown;
  const ended = indexedDbStorage({ name }).presence?.ended('worker', new AbortController().signal);
  const later = new Promise((resolve) => setTimeout(resolve, 1_000, 'alive'));
  expect(await Promise.race([ended?.then(() => 'ended'), later])).toBe('alive');
  worker.terminate();
  await ended;
});
