import { describe, expect, it, onTestFinished } from 'vitest';
import { connectRuntime, exposeRuntime } from '../../../adapters/transport/comlink.ts';
import { localPrincipal, type UIMessageChunk } from '../../../src/index.ts';
import { callsTools, says, scriptedModel } from '../../fixtures/model.ts';
import { lastData, readAll, runRequest, testRuntime } from '../../fixtures/runtime.ts';
import { signedEndpoint } from '../../fixtures/signed-endpoint.ts';
import { heldTool } from '../../fixtures/tools/held-tool.ts';

const message = (id: string, text = id) => ({ id, parts: [{ type: 'text' as const, text }] });
const delivered = (chunks: readonly UIMessageChunk[]) => chunks.filter(({ type }) => type === 'steering-message');

/** A runtime whose run works until the tool is let go. */
function working() {
  const held = heldTool();
  const model = scriptedModel(callsTools({ tool: 'work', input: {} }), says('ok'));
  return { ...held, runtime: testRuntime({ ...model, tools: [held.tool] }), model };
}

/** The run's id, and its chunks to the end. */
async function idOf(stream: ReadableStream<UIMessageChunk>) {
  const [first, all] = stream.tee();
  const reader = first.getReader();
  let runId = '';
  for (let next = await reader.read(); runId === '' && !next.done; next = await reader.read()) {
    if (next.value.type === 'data-run') runId = next.value.id ?? '';
  }
  void reader.cancel();
  return { runId, chunks: readAll(all) };
}

describe('a message to a running agent', () => {
  it('needs the scope, the tenant and the agent of the run', async () => {
    const { runtime, model, started, open } = working();
    const endpoint = await signedEndpoint(runtime);
    const { runId, chunks } = await idOf(await (await endpoint.client()).run(runRequest()));
    await started;
    const as = async (session: object) => await (await endpoint.client(session)).send(runId, message('a'));
    await expect(as({ scopes: ['run:read', 'run:cancel'] })).rejects.toMatchObject({ code: 'forbidden', status: 403 });
    await expect(as({ tenant: 't2' })).rejects.toMatchObject({ code: 'not_found', status: 404 });
    await expect(as({ agents: ['another'] })).rejects.toMatchObject({ code: 'not_found' });
    open();
    expect(delivered(await chunks)).toEqual([]);
    expect(model.calls).toHaveLength(2);
  });

  it('is delivered once, however often the client repeats its request', async () => {
    const { runtime, started, open } = working();
    const endpoint = await signedEndpoint(runtime);
    let losses = 0;
    const client = await endpoint.client({}, {
      async fetch(request) {
        const response = await endpoint.serve(request);
        if (!request.url.endsWith('/messages') || losses++ > 0) return response;
        throw new TypeError('The answer was lost');
      },
    });
    const { runId, chunks } = await idOf(await client.run(runRequest()));
    await started;
    await client.send(runId, { parts: [{ type: 'text', text: 'Once' }] });
    open();
    expect(delivered(await chunks)).toHaveLength(1);
    expect(losses).toBe(2);
  });

  it('is sent by a page to its worker', async () => {
    const { runtime, started, open } = working();
    const { port1, port2 } = new MessageChannel();
    exposeRuntime(runtime, port1);
    onTestFinished(() => {
      port1.close();
      port2.close();
    });
    const page = connectRuntime(port2);
    const { runId, chunks } = await idOf(await page.run(runRequest(), localPrincipal()));
    await started;
    expect(await page.send(runId, message('a'), localPrincipal())).toEqual({ messageId: 'a', state: 'accepted' });
    open();
    expect(delivered(await chunks)).toHaveLength(1);
    await expect(page.send(runId, message('b'), localPrincipal())).rejects.toMatchObject({
      details: { reason: 'run_ended' },
    });
  });

  it('is refused to a run that follows a plan', async () => {
    const allowed = Promise.withResolvers<void>();
    const model = scriptedModel(() =>
      new ReadableStream({
        async start(controller) {
          await allowed.promise;
          for (const part of says('Planned')) controller.enqueue(part);
          controller.close();
        },
      })
    );
    const runtime = testRuntime(model);
    const { runId, chunks } = await idOf(await runtime.run(runRequest({ planner: {} }), localPrincipal()));
    await expect(runtime.send(runId, message('a'), localPrincipal())).rejects.toMatchObject({
      code: 'conflict',
      retryable: false,
      details: { reason: 'run_follows_plan' },
    });
    allowed.resolve();
    expect(lastData(await chunks, 'data-run')).toMatchObject({ state: 'completed' });
  });
});
