/** Which tests run where. */

/**
 * The core tests that `npm test` also runs in Deno and in browsers: what depends on the platform. That is contracts, storage,
 * cryptography, streams, HTTP, egress, timers and the data of languages, and one whole path through the runtime. Node, Deno and Chromium
 * have one engine: what only computes is tested in Node, and the golden requests (`parity.test.ts`) everywhere.
 * In Node all core tests run; `npm run test:long` runs all of them everywhere.
 */
export const platformTests: string[] = [
  'test/adapters/{egress,secrets,storage}/**/*.test.ts',
  'test/adapters/grounding/{file-text,folder-tree,text,vector}.test.ts',
  'test/adapters/mcp/{contract,everything}.test.ts',
  'test/adapters/models/{openai-compatible,source}.test.ts',
  'test/adapters/sinks/{console,otel,queued}.test.ts',
  'test/adapters/transport/{client,comlink,endpoint}.test.ts',
  'test/adapters/transport/client/*.test.ts',
  'test/adapters/transport/http/{body-intake,events,handler}.test.ts',
  'test/adapters/transport/mcp-server/connection.test.ts',
  'test/adapters/transport/signed/*.test.ts',
  'test/scenarios/*.test.ts',
  'test/src/base/**/*.test.ts',
  'test/src/events/*.test.ts',
  'test/src/grounding/ingest/*.test.ts',
  'test/src/log/*.test.ts',
  'test/src/runtime/runtime.test.ts',
  'test/src/simulation/{same-report,virtual-time}.test.ts',
  'test/src/runtime/faults/{faults,canary}.test.ts',
  'test/src/tools/builtin/current-time.test.ts',
  'test/src/tools/http/*.test.ts',
  'test/src/tools/invoke-tool.test.ts',
  'test/src/tree/stored/*.test.ts',
];

/**
 * Tests that measure their own process or change it: they count its timers, sockets or memory, or number what it makes. Each runs in
 * a process of its own; all others share one. These are also platform tests.
 */
export const measuringPlatformTests: string[] = [
  'test/src/simulation/{same-report,virtual-time}.test.ts',
  'test/adapters/transport/{endpoint,http/body-intake}.test.ts',
  'test/src/log/{answering-storage,cache,journal,outage}.test.ts',
  'test/src/runtime/faults/faults.test.ts',
];

/** The same of those that run in Deno alone. */
export const measuringDenoTests: string[] = ['test/deno/parity.test.ts'];

/** All tests that measure their own process or change it. */
export const measuringTests: string[] = [
  ...measuringPlatformTests,
  'test/node/{answer-steps,fuzz,parity,regex-cpu,schema-cpu,soak}.test.ts',
  'test/adapters/grounding/turns.test.ts',
  'test/node/docs/docs.test.ts',
  'test/src/simulation/{planted-bugs,simulate}.test.ts',
  'test/src/{undo/undo,webhooks/notices}-simulation.test.ts',
  'test/src/runtime/{audit,readiness,start-gate,model/retry-chunks}.test.ts',
  'test/src/runtime/{resolve/slow-catalog,faults/scenario-faults}.test.ts',
];
