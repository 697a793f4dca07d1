/** Storages whose calls are steps, and whose answers are checked. */

import type { Change, CommitResult, Entry, Storage, Watchable } from '../../contracts/storage.ts';
import { wrapPort } from '../faulty.ts';
import { createStorageCheck, type StorageCheck } from '../storage/storage-check.ts';
import type { PortParts } from './port-parts.ts';

/** Whether a port has the methods of a storage. */
export function isStorage(port: object): port is Storage {
  return ['get', 'list', 'commit'].every((name) => typeof Reflect.get(port, name) === 'function');
}

/** Returns the storage. All instances share the check of a name. */
export function wrapStorage<S extends Storage & Partial<Watchable>>(name: string, storage: S, parts: PortParts): S {
  const { observed, instance: { call }, time } = parts;
  const check = observed.storages.get(name) ?? createStorageCheck(name, time.now);
  observed.storages.set(name, check);
  parts.storages.set(name, storage);
  const checked: Partial<Storage> = checkedMethods(check, storage);
  return wrapPort(name, storage, {
    call,
    special: {
      ...Object.fromEntries(
        Object.entries(checked).map(([method, work]) => [
          method,
          () => (...args: unknown[]) =>
            call(`${name}.${method}`, args, () => (work as (...given: unknown[]) => unknown)(...args)),
        ]),
      ),
      watch: (watch) => (keys, options) => {
        const { signal } = options as Parameters<Watchable['watch']>[1]; // the port's own options
        observed.watchers += 1;
        signal.addEventListener('abort', () => (observed.watchers -= 1), { once: true });
        return watch(keys, options);
      },
    },
  });
}

function checkedMethods(check: StorageCheck, storage: Storage): Pick<Storage, 'get' | 'list' | 'commit'> {
  return {
    get: (key): Promise<Entry | undefined> => check.get(key, () => storage.get(key)),
    list: (options): Promise<Entry[]> => check.list(options, () => storage.list(options)),
    commit: (changes: readonly Change[]): Promise<CommitResult> => check.commit(changes, () => storage.commit(changes)),
  };
}
