/**
 * The size gate: bundles entries of the package (`./` as package.json names them) and the pages and workers of the playground, gzips what loads with each, and fails over its budget
 * (kB of 1,000 bytes).
 */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { gzipSync } from 'node:zlib';
import { build, type Rolldown } from 'vite';
import { alias } from '../../demo/alias.ts';

const root = join(import.meta.dirname, '../..');
const { exports } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
  exports: Record<string, string>;
};
const budgets: Readonly<Record<string, number>> = {
  './storage/indexeddb': 5.5,
  './transport/comlink': 8.1,
  './mcp/client': 14.6,
  './mcp/sign-in': 4.4,
  './transport/mcp-server-connection': 78.3,
  './transport/mcp-server': 51.7,
  '.': 218.5,
  './evals': 8.8,
  './simulation': 26.1,
  'demo/main.tsx': 73.3,
  'demo/worker.ts': 258.2,
  'demo/tree/worker/host.ts': 50,
  'demo/agents/worker/trials.ts': 45.7,
  './secrets/vault': 7.5,
  'demo/knowledge/worker/host.ts': 58.6,
  './grounding/file-text': 5.2,
  './grounding/office-text': 21.4,
  'demo/evals/worker/host.ts': 188.3,
  './models/browser/page': 3.9,
  './models/browser/worker': 3,
  './node': 258.7,
  './deno': 257.4,
  './browser': 191.6,
  './transport/http': 69,
  './transport/client': 21.1,
  './planner': 19.5,
  './tree': 45.4,
  './registry': 29,
  './grounding': 33.6,
  './discovery': 26.2,
  './tools': 40.9,
  './grounding/text': 24.5,
  './grounding/vector': 15,
  './grounding/code-repo': 21.7,
  './storage/postgres': 8.6,
  './models/rehearsal': 23.1,
  './models/openai-compatible': 4,
};

let over = 0;
for (const [name, budget] of Object.entries(budgets)) {
  const entry = exports[name]?.replace('./dist/', '').replace(/js$/, 'ts') ?? name;
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
  console.log(`${kb > budget ? 'OVER' : 'ok  '} ${name.padEnd(36)} ${kb.toFixed(1).padStart(6)} of ${budget} kB gz`);
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
