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
  './storage/indexeddb': 4.6,
  './transport/comlink': 7.3,
  './mcp/client': 11.6,
  './mcp/sign-in': 3.7,
  './transport/mcp-server-connection': 75.3,
  './transport/mcp-server': 125.6,
  '.': 185.1,
  './evals': 7.9,
  './simulation': 23.2,
  'demo/main.tsx': 70.4,
  'demo/worker.ts': 228.3,
  'demo/tree/worker/host.ts': 49.3,
  'demo/agents/worker/trials.ts': 42.4,
  './secrets/vault': 7.0,
  'demo/knowledge/worker/host.ts': 57.0,
  './grounding/file-text': 4,
  './grounding/office-text': 19.9,
  'demo/evals/worker/host.ts': 159.0,
  './models/browser/page': 3.2,
  './models/browser/worker': 3,
  './node': 223.6,
  './deno': 222.8,
  './browser': 162.4,
  './transport/http': 64.1,
  './transport/client': 20.4,
  './planner': 16.6,
  './tree': 44.8,
  './registry': 27.7,
  './grounding': 29.9,
  './discovery': 24.1,
  './tools': 37.1,
  './grounding/text': 23.8,
  './grounding/vector': 14.8,
  './grounding/code-repo': 20.6,
  './storage/postgres': 8.3,
  './models/rehearsal': 22.5,
  './models/openai-compatible': 3.3,
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
