/** `pinnace/testing`: the contracts of the ports, for authors of adapters, and what tests of apps need. They know no test runner. */

export { type BlobCheck, blobStoreContract } from './blobs.ts';
export {
  closableStorageContract,
  createTestClock,
  type StorageCheck,
  storageContract,
  type StorageSubject,
  watchableStorageContract,
} from './storage.ts';
export {
  type DeniableSecrets,
  deniableSecretsContract,
  type OpenSecrets,
  remoteSecretsContract,
  type SecretsCheck,
  secretsContract,
  type SecretsSubject,
  type WaitingSecrets,
  waitingSecretsContract,
} from './secrets.ts';
export {
  type ContractDocument,
  filteringGroundingContract,
  type GroundingCheck,
  groundingContract,
  type GroundingSubject,
  writableGroundingContract,
  type WritableSubject,
} from './grounding.ts';
export { queuedSinkContract, type SinkCheck, type SinkSubject } from './sinks.ts';
export {
  type Era,
  type McpConnectorCheck,
  mcpConnectorContract,
  type McpConnectorSubject,
  mcpSessionContract,
} from './mcp.ts';
export { type FakeAnswer, type FakeModel, fakeModel, type FakeRequest, type FakeScript } from './app/fake-model.ts';
export { type ReadCall, type ReadRun, readRun } from './app/read-run.ts';
export type { TestClock } from './storage/check.ts';
