/** The wiring for Deno: state in Deno KV, models over fetch, events as lines on the console, the endpoint as a fetch handler. */

import { createRuntime } from '../src/create-runtime.ts';
import type { Authenticator, Catalog, ClosableStorage, SecretSource } from '../src/ports.ts';
import type { Tool } from '../src/tools/tool.ts';
import { modelSource } from './models/source.ts';
import { consoleSink } from './sinks/console.ts';
import { denoKvStorage } from './storage/deno-kv.ts';
import { createHandler, type Handler } from './transport/http.ts';

/** What differs from one endpoint to the next. */
export interface DenoEndpointOptions {
  readonly catalog: Catalog;
  readonly authenticator: Authenticator;
  readonly tools: (storage: ClosableStorage) => readonly Tool[];
  readonly secrets?: SecretSource;
  /** The Deno KV database; the platform's own when absent. */
  readonly kvPath?: string;
}

/** Gives the handler for `Deno.serve`, or for `export default { fetch }` with `deno serve` and Deno Deploy. */
export function createDenoEndpoint({ catalog, authenticator, tools, secrets, kvPath }: DenoEndpointOptions): Handler {
  const storage = denoKvStorage(kvPath === undefined ? {} : { path: kvPath });
  const runtime = createRuntime({
    catalog,
    storage,
    models: modelSource(),
    tools: tools(storage),
    sinks: [consoleSink()],
    ...(secrets && { secrets }),
  });
  return createHandler(runtime, { authenticator });
}
