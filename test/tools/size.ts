/**
 * The size gate: bundles entries of the package and of the playground, gzips what loads with each, and fails over its budget
 * (kB of 1,000 bytes).
 */

import { join } from 'node:path';
import process from 'node:process';
import { gzipSync } from 'node:zlib';
import { build, type Rolldown } from 'vite';
import { alias } from '../../demo/alias.ts';

const root = join(import.meta.dirname, '../..');
const budgets: Readonly<Record<string, number>> = {
  'adapters/storage/indexeddb.ts': 4.4,
  'adapters/transport/comlink.ts': 7.1,
  'adapters/mcp/client.ts': 23.5,
  'adapters/mcp/client-2026.ts': 24.1,
  'adapters/mcp/sign-in.ts': 3.2,
  'adapters/transport/mcp-server-connection.ts': 73.5,
  'adapters/transport/mcp-server.ts': 125.7,
  'src/index.ts': 170.8,
  'src/evals/index.ts': 7.6,
  'src/simulation/index.ts': 19.9,
  'demo/main.tsx': 68.9,
  'demo/worker.ts': 222.2,
  'demo/tree/worker/host.ts': 49.6,
  'demo/builder/worker/trials.ts': 39.3,
  'adapters/secrets/vault.ts': 6.4,
  'demo/knowledge/worker/host.ts': 54,
  'adapters/grounding/file-text.ts': 3,
  'adapters/grounding/office-text.ts': 19.6,
  'demo/evals/worker/host.ts': 145.1,
  'adapters/models/browser/page.ts': 3,
  'adapters/models/browser/worker.ts': 2.8,
  'adapters/node.ts': 206.2,
  'adapters/deno.ts': 209.1,
  'adapters/browser.ts': 152.3,
  'adapters/transport/http.ts': 61.1,
  'adapters/transport/client.ts': 19.8,
  'src/planner/index.ts': 16.4,
  'src/tree/index.ts': 45.4,
  'src/registry/index.ts': 22.1,
  'src/grounding/index.ts': 28.3,
  'src/discovery/index.ts': 22.3,
  'src/tools/index.ts': 37.9,
  'adapters/grounding/text.ts': 22.1,
  'adapters/grounding/vector.ts': 15.9,
  'adapters/grounding/code-repo.ts': 19.6,
  'adapters/storage/postgres.ts': 7,
  'adapters/models/rehearsal.ts': 29.3,
  'adapters/models/openai-compatible.ts': 6.8,
};

let over = 0;
for (const [entry, budget] of Object.entries(budgets)) {
  const result = await build({
    configFile: false,
    logLevel: 'error',
    root,
    resolve: { alias: [...alias] },
    oxc: { jsx: { importSource: 'preact' } },
    worker: { format: 'es' },
    build: { write: false, target: 'es2024', rolldownOptions: { input: entry, preserveEntrySignatures: 'strict' } },
  });
  const { output } = (Array.isArray(result) ? result[0] : result) as Rolldown.RolldownOutput;
  const code = chunksOf(output).map((chunk) => chunk.code).join('');
  const kb = gzipSync(code, { level: 9 }).length / 1000;
  console.log(`${kb > budget ? 'OVER' : 'ok  '} ${entry.padEnd(44)} ${kb.toFixed(1).padStart(6)} of ${budget} kB gz`);
  if (kb > budget) over++;
}
process.exit(over === 0 ? 0 : 1);

/** Returns the chunks that load with the entry: what it imports on demand, and workers, load later. */
function chunksOf(output: Rolldown.RolldownOutput['output']): readonly Rolldown.OutputChunk[] {
  const chunks = new Map(output.flatMap((item) => item.type === 'chunk' ? [[item.fileName, item] as const] : []));
  const found = new Set<Rolldown.OutputChunk>();
  const visit = (chunk: Rolldown.OutputChunk | undefined): void => {
    if (!chunk || found.has(chunk)) return;
    found.add(chunk);
    for (const name of chunk.imports) visit(chunks.get(name));
  };
  visit(output[0]);
  return [...found];
}
