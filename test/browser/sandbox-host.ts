/** A worker that has a sandbox of its own, as the runtime's worker has. */

import { expose } from 'comlink';
import { workerSandbox } from '../../adapters/sandbox/worker.ts';
import { type ErrorData, toData } from '../../src/base/errors.ts';

const sandbox = workerSandbox();
const { signal } = new AbortController();

/** What the worker gives to the page. */
export interface SandboxHost {
  run(code: string, terms: { input: unknown; timeoutMs: number }): Promise<{ output?: unknown; error?: ErrorData }>;
}

const host: SandboxHost = {
  async run(code, terms) {
    try {
      return { output: await sandbox.run(code, { ...terms, signal }) };
    } catch (error) {
      return { error: toData(error) };
    }
  },
};
expose(host);
