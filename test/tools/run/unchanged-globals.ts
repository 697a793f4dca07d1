/** Set-up of every test file. Files share a process: fails a file that leaves a global of the platform changed, and repairs it. */

import { afterAll, vi } from 'vitest';

const guarded: readonly (readonly [owner: object, name: string])[] = [
  [globalThis, 'setTimeout'],
  [globalThis, 'clearTimeout'],
  [globalThis, 'setInterval'],
  [globalThis, 'queueMicrotask'],
  [globalThis, 'fetch'],
  [globalThis, 'Date'],
  [performance, 'now'],
  [Math, 'random'],
  [AbortSignal, 'timeout'],
  [crypto.subtle, 'digest'],
];
const addressOf = (): unknown => Reflect.get(globalThis, 'location') && String(Reflect.get(globalThis, 'location'));
const address = addressOf();
const before = guarded.map(([owner, name]) => Reflect.get(owner, name) as unknown);

afterAll(() => {
  const changed = guarded.filter(([owner, name], at) => Reflect.get(owner, name) !== before[at]);
  vi.restoreAllMocks();
  guarded.forEach(([owner, name], at) =>
    Reflect.get(owner, name) === before[at] || Reflect.set(owner, name, before[at])
  );
  if (changed.length > 0) throw new Error(`The file leaves globals changed: ${changed.map(([, name]) => name).join()}`);
  if (addressOf() !== address) throw new Error(`The file leaves the page at ${String(addressOf())}`);
});
