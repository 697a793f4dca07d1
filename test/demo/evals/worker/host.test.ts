import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { staticCatalog } from '../../../../adapters/catalog/static.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import type { Answered } from '../../../../demo/control/evals-control.ts';
import { createEvalsHost } from '../../../../demo/evals/worker/host.ts';
import { runEvals } from '../../../../src/evals/index.ts';
import { createRuntime, defineTool, localPrincipal, type ModelSource } from '../../../../src/index.ts';
import type { Agent } from '../../../../src/registry/index.ts';
import { checks } from '../../../../src/evals/checks.ts';
import { rehearsal } from '../../../../adapters/models/rehearsal.ts';
import { lastData, readAll, runRequest, userMessage } from '../../../fixtures/runtime.ts';

/** A worker whose agent can be changed, and whose model counts its calls. */
function startWorker({ keep = 'inputs' }: { readonly keep?: 'inputs' | 'stream' } = {}) {
  const storage = memoryStorage();
  let [revision, entryTools, modelCalls, toolCalls, time] = [1, ['double'], 0, 0, 0];
  const double = defineTool({
    id: 'double',
    description: 'Doubles a number',
    annotations: { readOnlyHint: true },
    input: v.strictObject({ number: v.number() }),
    execute: ({ number }) => (toolCalls++, { text: `${2 * number}` }),
  });
  const catalogNow = () =>
    staticCatalog({ agents: [{ id: 'helper', name: 'Helper', providerId: 'p', entryTools }], providers });
  const providers = [{ id: 'p', kind: 'rehearsal' as const }, { id: 'q', kind: 'rehearsal' as const }];
  const catalog = {
    ...catalogNow(),
    async agent(id: string): Promise<Agent | undefined> {
      const agent = await catalogNow().agent(id);
      return agent && { ...agent, revision };
    },
  };
  const models: ModelSource = {
    model() {
      modelCalls++;
      return rehearsal({ delayMs: 0 });
    },
  };
  const runtime = createRuntime({ catalog, models, storage, tools: [double], keep });
  const host = createEvalsHost({
    storage,
    runtime: () => runtime,
    catalog,
    models: () => models,
    parts: () => ({ tools: [double] }),
    now: () => ++time,
  });
  return {
    host,
    double,
    models,
    catalog,
    counts: () => ({ modelCalls, toolCalls }),
    change: (tools: string[]) => {
      revision++;
      entryTools = tools;
    },
    ask: async (text: string): Promise<string> => {
      const chat = { id: `chat-${text}`, messages: [userMessage(text)] };
      const chunks = await readAll(await runtime.run(runRequest({ agentId: 'helper', chat }), localPrincipal()));
      return String(lastData(chunks, 'data-run')['runId']);
    },
  };
}

async function valueOf<T>(asked: Promise<Answered<T>>): Promise<T> {
  const found = await asked;
  if (!found.ok) throw new Error(found.error.message);
  return found.value;
}

describe('test cases of the page', () => {
  it('find that a new revision of the agent no longer makes the call, and that the recorded one does', async () => {
    const { host, ask, change } = startWorker();
    await valueOf(host.add(await ask('Double 21')));
    change([]);
    const { reports: [now] } = await valueOf(host.run({ agent: 'current', answers: 'auto' }));
    expect(now).toMatchObject({ revisions: { helper: 2 }, report: { failed: 1 } });
    change(['double']);
    const { reports: [recorded] } = await valueOf(host.run({ agent: 'recorded', answers: 'auto' }));
    expect(recorded).toMatchObject({ revisions: { helper: 1 }, report: { passed: 1 } });
  });

  it('run with the model of another provider', async () => {
    const { host, ask } = startWorker();
    await valueOf(host.add(await ask('Double 21')));
    const { reports: [report] } = await valueOf(
      host.run({ agent: 'current', answers: 'auto', model: { providerId: 'q' } }),
    );
    expect(report).toMatchObject({ setting: { model: { providerId: 'q' } }, report: { passed: 1 } });
  });

  it('are files that the command line runs without a model', async () => {
    const { host, ask, double, catalog } = startWorker();
    await valueOf(host.add(await ask('Double 21')));
    await valueOf(host.run({ agent: 'current', answers: 'record' }));
    const files = await valueOf(host.files());
    const result = await runEvals(files, {
      subject: {
        createRuntime: (parts) =>
          createRuntime({
            catalog,
            storage: memoryStorage(),
            tools: [double],
            models: { model: () => Promise.reject(new Error('No model')) as never },
            ...parts,
          }),
      },
      checks: [checks.state('completed'), checks.sameCalls()],
    });
    expect(result).toMatchObject({ exitCode: 0, report: { passed: 1 } });
  });

  it('are removed one by one, and cannot be made of runs whose inputs were not recorded', async () => {
    const { host, ask } = startWorker();
    const id = await ask('Double 21');
    await valueOf(host.add(id));
    expect((await valueOf(host.remove(id))).cases).toEqual([]);
    const other = startWorker({ keep: 'stream' });
    expect(await other.host.add(await other.ask('Double 21'))).toMatchObject({
      ok: false,
      error: { code: 'not_found', details: { reason: 'inputs_not_kept' } },
    });
  });
});
