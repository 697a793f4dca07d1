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
  './transport/comlink': 8,
  './mcp/client': 14.4,
  './mcp/sign-in': 4.4,
  './transport/mcp-server-connection': 78.1,
  './transport/mcp-server': 51.3,
  '.': 215.8,
  './evals': 8.8,
  './simulation': 26.1,
  'demo/main.tsx': 73.3,
  'demo/worker.ts': 254.9,
  'demo/tree/worker/host.ts': 49.8,
  'demo/agents/worker/trials.ts': 45.2,
  './secrets/vault': 7.5,
  'demo/knowledge/worker/host.ts': 58.3,
  './grounding/file-text': 5.2,
  './grounding/office-text': 21.2,
  'demo/evals/worker/host.ts': 185.4,
  './models/browser/page': 3.9,
  './models/browser/worker': 3,
  './node': 255.4,
  './deno': 254.1,
  './browser': 188.7,
  './transport/http': 68.7,
  './transport/client': 20.9,
  './planner': 19.5,
  './tree': 45.2,
  './registry': 29,
  './grounding': 33.1,
  './discovery': 26,
  './tools': 40.4,
  './grounding/text': 24.5,
  './grounding/vector': 15,
  './grounding/code-repo': 21.7,
  './storage/postgres': 8.5,
  './models/rehearsal': 22.8,
  './models/openai-compatible': 3.8,
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
