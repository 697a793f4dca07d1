/** The size gate: bundles one entry after another, gzips it, and fails over its budget (kB of 1,000 bytes). */

import { join, relative, sep } from 'node:path';
import process from 'node:process';
import { gzipSync } from 'node:zlib';
import { build, type Rolldown } from 'vite';
import { alias } from '../../demo/alias.ts';

const root = join(import.meta.dirname, '../..');
const budgets: Readonly<Record<string, number>> = {
  'src/base/errors.ts': 2,
  'src/tools/define-tool.ts': 19.1, // with the errors of wrong options
  'adapters/storage/indexeddb.ts': 5,
  'adapters/transport/comlink.ts': 7,
  'adapters/mcp/client.ts': 66.2,
  'adapters/mcp/client-2026.ts': 102,
  'adapters/mcp/sign-in.ts': 48,
  'adapters/transport/mcp-server-connection.ts': 70,
  'adapters/transport/mcp-server.ts': 120.8,
  'src/index.ts': 155,
  'src/planner/open-planner.ts': 45.7, // with the rows of snapshots
  'src/planner/host/runtime-planner.ts': 52.2,
  'src/runtime/resolve/agent-tools.ts': 14.6,
  'src/runtime/agent-steps.ts': 28.8,
  'src/runtime/follow-plan.ts': 4,
  'src/evals/index.ts': 8,
  'src/simulation/index.ts': 19,
  'src/permission/redaction/redactor.ts': 7,
  'src/runtime/forks/basis.ts': 1,
  'src/runtime/forks/start-fork.ts': 27,
  'src/runtime/forks/step-notes.ts': 3,
  'src/runtime/model/fit-prompt.ts': 2,
  'src/runtime/model/stream-older.ts': 1.2,
  'src/runtime/output/create-output.ts': 14,
  'src/runtime/context/fit-prompt.ts': 5,
  'src/runtime/context/summarize.ts': 11,
  'src/tools/builtin/current-time.ts': 9,
  'src/tools/builtin/calculator.ts': 10.2,
  'src/tools/builtin/code-run.ts': 12,
  'src/runtime/program/programs.ts': 14,
  'src/runtime/attachments/open-files.ts': 6.5,
  'src/runtime/chats/open-chats.ts': 14.1,
  'src/runtime/attachments/stored-files.ts': 2.6,
  'src/registry/open-records.ts': 33.2,
  'src/mcp/mcp-servers.ts': 28,
  'src/mcp/content/create-content.ts': 7.6,
  'src/runtime/resolve/mcp-content.ts': 16.1, // with the calls of apps
  'src/runtime/attachments/load-resource.ts': 2.5,
  'src/mcp/people.ts': 21.5, // with the check of JSON Schemas, which tools share
  'src/mcp/validate-server.ts': 27.3,
  'src/runtime/resolve/mcp-sign-ins.ts': 4,
  'src/runtime/resolve/prewarm.ts': 2,
  'src/runtime/resolve/validate-mcp-server.ts': 3.5,
  'src/runtime/log/earlier-chunks.ts': 2,
  'src/runtime/resolve/run-settings.ts': 2,
  'src/log/blobs.ts': 1.2,
  'src/runtime/calls/ask-person.ts': 1,
  'src/runtime/calls/call-agent.ts': 2.2,
  'src/events/verify-chain.ts': 4,
  'src/events/list-events.ts': 4,
  'src/events/store-feed.ts': 1.5,
  'src/runtime/steering/send.ts': 8,
  'src/tools/http/call-http.ts': 5,
  'src/grounding/retrieve.ts': 5,
  'src/grounding/context.ts': 2,
  'src/tree/stored/open-stored.ts': 18,
  'node_modules/@ai-sdk/openai-compatible/dist/index.js': 54,
  'demo/main.tsx': 91.2,
  'demo/markdown/ui/formula.tsx': 69,
  'demo/markdown/state/highlight.ts': 10, // all languages; each is loaded with the first block of it
  'demo/mcp/ui/app-card.tsx': 13.5,
  'demo/mcp/ui/need-card.tsx': 18.5,
  'demo/registry/ui/sign-in-section.tsx': 14,
  'demo/tree/ui/tree-panel.tsx': 20,
  'demo/knowledge/ui/knowledge-panel.tsx': 21,
  'demo/registry/ui/registry-screen.tsx': 31,
  'demo/builder/ui/tool-work.tsx': 18,
  'demo/tour/ui/tour-strip.tsx': 20,
  'demo/privacy/ui/privacy-screen.tsx': 27,
  'demo/builder/ui/builder-screen.tsx': 40.3, // with templates and checks while typing
  'demo/builder/ui/preview-pane.tsx': 40,
  'demo/builder/ui/link-screen.tsx': 16,
  'demo/builder/ui/share-section.tsx': 12,
  'demo/builder/ui/compare-screen.tsx': 40,
  'demo/share/ui/share-dialog.tsx': 14.5,
  'demo/share/ui/shared-screen.tsx': 27.5,
  'demo/palette/ui/palette.tsx': 17.5,
  'demo/console/ui/console-screen.tsx': 41, // with the goals and states of plans
  'demo/tools/convert.ts': 4.2, // loaded with the first conversion
  'demo/worker.ts': 211.4, // with the errors of wrong options
  'demo/tree/worker/host.ts': 47.8,
  'demo/builder/worker/trials.ts': 36.2,
  'adapters/secrets/vault.ts': 7,
  'demo/knowledge/worker/host.ts': 52,
  'adapters/grounding/code/line-pattern.ts': 4.5,
  'adapters/grounding/language/synonyms.ts': 15,
  'adapters/grounding/office-text.ts': 14,
  'demo/inspector/ui/inspector-screen.tsx': 33.3, // with the units of facts
  'demo/forks/ui/steps-panel.tsx': 22,
  'demo/evals/ui/evals-panel.tsx': 16,
  'demo/evals/ui/save-case.tsx': 10,
  'demo/evals/worker/host.ts': 132,
  'demo/chat/ui/program-card.tsx': 24.5,
  'demo/chat/settings/chat-settings-dialog.tsx': 14,
  'demo/chat/ui/retry-line.tsx': 11,
  'demo/chat/ui/tool-details.tsx': 11,
  'adapters/sandbox/program-prelude.ts': 5,
  'demo/find/ui/find-bar.tsx': 12,
  'demo/composer/ui/command-menu.tsx': 12,
  'demo/files/ui/files.tsx': 13,
  'demo/kit/callout.tsx': 14,
  'demo/settings/ui/settings-dialog.tsx': 24,
  'adapters/models/browser/page.ts': 8,
  'adapters/models/browser/worker.ts': 4,
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

/** Returns the chunks that the entry imports. Workers, and the lazy chunks above, have their own budgets. */
function chunksOf(output: Rolldown.RolldownOutput['output']): readonly Rolldown.OutputChunk[] {
  const chunks = new Map(output.flatMap((item) => item.type === 'chunk' ? [[item.fileName, item] as const] : []));
  const found = new Set<Rolldown.OutputChunk>();
  const visit = (chunk: Rolldown.OutputChunk | undefined): void => {
    if (!chunk || found.has(chunk)) return;
    found.add(chunk);
    for (const name of chunk.imports) visit(chunks.get(name));
    for (const later of chunk.dynamicImports.map((name) => chunks.get(name))) {
      if (later && !isBudgetedApart(later)) visit(later);
    }
  };
  visit(output[0]);
  return [...found];
}

/** A chunk that several lazy chunks share has no facade, but the module that is imported on demand. */
function isBudgetedApart({ isDynamicEntry, facadeModuleId, moduleIds }: Rolldown.OutputChunk): boolean {
  const ids = isDynamicEntry && facadeModuleId !== null ? [facadeModuleId] : moduleIds;
  return ids.some((id) => relative(root, id).replaceAll(sep, '/') in budgets);
}
