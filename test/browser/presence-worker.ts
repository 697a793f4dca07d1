/** A worker that shows that it lives, and then does nothing any more: it is blocked, as a frozen one is. */

import { indexedDbStorage } from '../../adapters/storage/indexeddb.ts';

addEventListener('message', ({ data: name }: MessageEvent<string>) => void live(name));

async function live(name: string): Promise<void> {
  await indexedDbStorage({ name }).presence?.show('worker', new AbortController().signal);
  postMessage('shown');
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }); // also where the page is not isolated
  setTimeout(() => Atomics.wait(new Int32Array(memory.buffer), 0, 0));
}
