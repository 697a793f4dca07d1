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
  './storage/indexeddb': 4.4,
  './transport/comlink': 7.1,
  './mcp/client': 11.5,
  './mcp/sign-in': 3.2,
  './transport/mcp-server-connection': 73.5,
  './transport/mcp-server': 125.7,
  '.': 170.8,
  './evals': 7.6,
  './simulation': 19.9,
  'demo/main.tsx': 68.9,
  'demo/worker.ts': 222.2,
  'demo/tree/worker/host.ts': 49.6,
  'demo/builder/worker/trials.ts': 39.3,
  './secrets/vault': 6.4,
  'demo/knowledge/worker/host.ts': 54,
  './grounding/file-text': 3,
  './grounding/office-text': 19.6,
  'demo/evals/worker/host.ts': 145.1,
  './models/browser/page': 3,
  './models/browser/worker': 2.8,
  './node': 206.2,
  './deno': 209.1,
  './browser': 152.3,
  './transport/http': 61.1,
  './transport/client': 19.8,
  './planner': 16.4,
  './tree': 45.4,
  './registry': 22.1,
  './grounding': 28.3,
  './discovery': 22.3,
  './tools': 37.9,
  './grounding/text': 22.1,
  './grounding/vector': 15.9,
  './grounding/code-repo': 19.6,
  './storage/postgres': 7,
  './models/rehearsal': 29.3,
  './models/openai-compatible': 6.8,
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
