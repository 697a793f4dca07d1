/** The wiring for a Web Worker: state in IndexedDB, models over fetch, the runtime on a port. */

import { checkKnownOptions, type Wanted } from '../src/base/check-options.ts';
import type { Egress, SecretSource } from '../src/contracts/egress.ts';
import type { McpConnector } from '../src/contracts/mcp/mcp-connector.ts';
import type { McpSignIn } from '../src/contracts/mcp/sign-in.ts';
import { type PlanningRuntime, runtimeOptions } from '../src/create-runtime.ts';
import { composeRuntime, type CompositionOptions, defined, made, type Observability, pick } from './composition.ts';
import { browserEgress } from './egress/browser.ts';
import { sweepDue } from './upkeep/due-sweep.ts';
import { workerSandbox } from './sandbox/worker.ts';
import { indexedDbStorage, type StorageFormat } from './storage/indexeddb.ts';

export type { PlanningRuntime } from '../src/create-runtime.ts';

export type { Observability };
/** @deprecated Use `Observability`. */
export type Seen = Observability;

/**
 * The options of a page's runtime: those of `createRuntime`, and what is new here. Absent, `egress` is `browserEgress()`, `sandbox` is
 * `workerSandbox()`, and there are no `sinks`. A shared worker cannot start workers and needs a sandbox whose code runs in its page.
 */
export interface BrowserRuntimeOptions extends CompositionOptions {
  /** Names the IndexedDB database. A `storage` replaces it, where the page shares one with more than the runtime. */
  readonly name: string;
  /** The storage format of the database; the first when absent. */
  readonly format?: StorageFormat;
  /** The audit and the event ring over `storage`, as `audit` and `ring`; created when absent. */
  readonly observability?: Observability;
  /** Where keys are read: `memorySecrets()`, or a vault. Everyone who opens the page can read what it contains. */
  readonly secrets: SecretSource;
  /** The connector to MCP servers, such as `(egress) => mcpConnector({ egress })`; without it their tools are left out. */
  readonly mcp?: McpConnector | ((egress: Egress) => McpConnector);
  /** Signs the user in to MCP servers, such as `(egress) => mcpSignIn({ egress, redirectUris })`; needs `sealKey`. */
  readonly mcpSignIn?: McpSignIn | ((egress: Egress) => McpSignIn);
}

/** How often what is due is looked for. Short, because after a reload a person waits for it. */
const sweepMs = 3000;
const option: Wanted = ['given?', ''];

/**
 * Creates a runtime for a worker; pass it to `exposeRuntime`.
 *
 * @throws PinnaceError `invalid_argument` for an unknown option or one of a wrong kind, and as `createRuntime`.
 */
export function createBrowserRuntime(options: BrowserRuntimeOptions): PlanningRuntime {
  checkPage(options);
  const { name, format, mcp, mcpSignIn, observability, storage = indexedDbStorage({ name, ...defined({ format }) }) } =
    options;
  const egress = options.egress ?? browserEgress(pick(options, ['privateOrigins']));
  const { runtime } = composeRuntime({
    auditRetentionMs: 30 * 86_400_000,
    ...observability,
    ...options,
  }, {
    storage,
    egress,
    mcp: defined({ mcp: mcp && made(mcp, egress), mcpSignIn: mcpSignIn && made(mcpSignIn, egress) }),
    defaults: options.sandbox ? {} : { sandbox: workerSandbox() },
  });
  sweepDue(runtime, { intervalMs: sweepMs, report: runtime.report }); // continues plans after a reload; ends with the worker
  return runtime;
}

function checkPage(options: BrowserRuntimeOptions): void {
  checkKnownOptions('create the runtime of the page', options, {
    name: [options?.storage ? 'given?' : 'text', 'a name for the database'],
    ...runtimeOptions,
    catalog: [
      typeof options?.catalog === 'function' ? 'function' : '.agent',
      'a catalog, such as staticCatalog({ agents, providers })',
    ],
    tools: [
      typeof options?.tools === 'function' ? 'function' : 'array?',
      'an array of tools, or a function (storage) => [add]',
    ],
    storage: ['.commit?', 'a storage, such as memoryStorage()'],
    models: option,
    grounding: option,
    format: option,
    observability: option,
    privateOrigins: option,
    auditRetentionMs: option,
  });
}
