/** The wiring for a Web Worker: state in IndexedDB, models over fetch, the runtime on a port. */

import { createRuntime } from '../src/create-runtime.ts';
import type { Catalog, ClosableStorage, SecretSource, Watchable } from '../src/ports.ts';
import type { HostedRuntime } from '../src/runtime/runtime.ts';
import type { Tool } from '../src/tools/tool.ts';
import type { ToolSource } from '../src/tools/tool-source.ts';
import { browserEgress } from './egress/browser.ts';
import { modelSource } from './models/source.ts';
import { workerSandbox } from './sandbox/worker.ts';
import { indexedDbStorage } from './storage/indexeddb.ts';

/** What differs from one page to the next. */
export interface BrowserRuntimeOptions {
  /** Names the IndexedDB database. */
  readonly name: string;
  readonly catalog: Catalog;
  readonly secrets: SecretSource;
  readonly tools: (storage: ClosableStorage & Watchable) => readonly (Tool | ToolSource)[];
}

/** Gives a runtime for a worker; pass it to `exposeRuntime`. */
export function createBrowserRuntime({ name, catalog, secrets, tools }: BrowserRuntimeOptions): HostedRuntime {
  const storage = indexedDbStorage({ name });
  return createRuntime({
    catalog,
    secrets,
    storage,
    models: modelSource(),
    tools: tools(storage),
    egress: browserEgress(),
    sandbox: workerSandbox(),
  });
}
