import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import {
  createPrincipal,
  type CreateRuntimeOptions,
  defineTool,
  type PlanningRuntime,
  type UIMessageChunk,
} from '../../../../src/index.ts';
import { callsTools, says, scriptedModel } from '../../../fixtures/model.ts';
import { programSandbox } from '../../../fixtures/program-cells.ts';
import { outputOf, programRuntime, take } from '../../../fixtures/programs.ts';
import { lastData, readAll, runRequest, testRuntime, userMessage } from '../../../fixtures/runtime.ts';

/** A tool that holds the program of a tenant until it is let go, and whose programs have started. */
function gate() {
  const started: string[] = [];
  const held = new Map<string, () => void>();
  const arrivals = new Map<number, () => void>();
  const tool = defineTool({
    id: 'hold',
    description: 'Waits',
    annotations: { readOnlyHint: true },
    input: v.strictObject({}),
    execute: async (_, { principal: { tenant, subject } }) => {
      const name = `${tenant}/${subject}`;
      started.push(name);
      await new Promise<void>((resolve) => {
        held.set(name, resolve);
        arrivals.get(started.length)?.();
      });
      return name;
    },
  });
  const release = (name: string): void => {
    held.get(name)?.();
    held.delete(name);
  };
  const reached = (count: number): Promise<void> =>
    started.length >= count ? Promise.resolve() : new Promise((resolve) => arrivals.set(count, resolve));
  return { tool, started, release, reached };
}

const personOf = (name: string) => {
  const [tenant = '', subject = ''] = name.split('/');
  return createPrincipal({
    tenant,
    subject,
    via: 'in-process',
    agents: '*',
    scopes: ['run:create', 'run:read', 'run:cancel'],
  });
};

/** Starts the run of a person, and resolves once its program waits for a sandbox or runs, with all that the stream says. */
async function startAs(runtime: PlanningRuntime, name: string) {
  const stream = await runtime.run(
    runRequest({ chat: { id: `chat of ${name}`, messages: [userMessage('Go')] } }),
    personOf(name),
  );
  const shown = Promise.withResolvers<UIMessageChunk>();
  const chunks: UIMessageChunk[] = [];
  const all = readAll(stream.pipeThrough(
    new TransformStream<UIMessageChunk, UIMessageChunk>({
      transform(chunk, controller) {
        chunks.push(chunk);
        if (chunk.type === 'data-program' && 'queued' in (chunk.data as object)) shown.resolve(chunk);
        controller.enqueue(chunk);
      },
    }),
  ));
  return { all, chunks, queued: shown.promise };
}

/** A runtime whose first runs, so many, have one program each, which holds. */
function holding(runs: number, options: Pick<CreateRuntimeOptions, 'sandboxes' | 'tools' | 'now'>): PlanningRuntime {
  const program = callsTools({ tool: 'code_run', input: { code: 'return await tools.hold({})' }, id: 'p' });
  const { model } = scriptedModel(...Array.from({ length: runs }, () => program), says('Done'));
  const agent = { entryTools: ['*', 'code_run'] };
  return testRuntime({ sandbox: programSandbox(), programs: true, model, agent, ...options });
}

describe('programs of a runtime that has fewer sandboxes', () => {
  it('go on in turn: first those of the tenant that holds the fewest', async () => {
    const { tool, started, release, reached } = gate();
    const runtime = holding(5, { tools: [tool], sandboxes: 2 });
    const runs = [];
    for (const name of ['acme/ada', 'acme/bob', 'acme/cy', 'acme/dan', 'zeta/eve']) {
      const run = await startAs(runtime, name);
      runs.push(run.all);
      await (runs.length <= 2 ? reached(runs.length) : run.queued);
    }
    expect(started).toEqual(['acme/ada', 'acme/bob']);
    for (const [i, name] of ['acme/ada', 'zeta/eve', 'acme/bob', 'acme/cy', 'acme/dan'].entries()) {
      release(name);
      await reached(Math.min(5, i + 3));
    }
    await Promise.all(runs);
    expect(started).toEqual(['acme/ada', 'acme/bob', 'zeta/eve', 'acme/cy', 'acme/dan']);
  });

  it('leave the queue when their run is cancelled', async () => {
    const { tool, started, release, reached } = gate();
    const runtime = holding(3, { tools: [tool], sandboxes: 1 });
    const first = await startAs(runtime, 'acme/ada');
    await reached(1);
    const second = await startAs(runtime, 'acme/bob');
    await second.queued;
    const run = lastData(second.chunks, 'data-run') as { readonly runId: string };
    await runtime.cancel(run.runId, personOf('acme/bob'));
    expect(lastData(await second.all, 'data-run')).toMatchObject({ state: 'cancelled' });
    const third = await startAs(runtime, 'acme/cy');
    await third.queued;
    release('acme/ada');
    await reached(2);
    release('acme/cy');
    await Promise.all([first.all, third.all]);
    expect(started).toEqual(['acme/ada', 'acme/cy']);
  });

  it.each([
    ['at once', 'await Promise.all([1, 2, 3, 4, 5, 6, 7].map(() => tools.$sleep({ ms: 10_000 }))); return 1'],
    [
      'and catch what they get',
      'const wait = () => tools.$sleep({ ms: 1e9 }).catch(() => 0); await Promise.all(Array.from({ length: 7 }, wait)); return 1',
    ],
  ])('end when their waits take too long together: %s', async (_, code) => {
    const { runtime } = programRuntime(code, {});
    const { chunks, message } = await take(runtime);
    expect(outputOf(message)).toContain('waits take longer than 60000 ms together');
    expect(lastData(chunks, 'data-program')).toMatchObject({ state: 'failed' });
  });
});
