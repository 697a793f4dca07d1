/** `pinnace/testing`: the contracts of the ports, for whoever writes an adapter. They know no test runner. */

export {
  closableStorageContract,
  createTestClock,
  type StorageCheck,
  storageContract,
  type StorageSubject,
  watchableStorageContract,
} from './storage.ts';
