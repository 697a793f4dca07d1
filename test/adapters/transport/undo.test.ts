import * as v from 'valibot';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connectRuntime, exposeRuntime } from '../../../adapters/transport/comlink.ts';
import { defineTool, localPrincipal } from '../../../src/index.ts';
import { runIdOf } from '../../fixtures/forks/forks.ts';
import { callsTools, says, scriptedModel } from '../../fixtures/model.ts';
import { readAll, runRequest, testRuntime } from '../../fixtures/runtime.ts';
import { signedEndpoint } from '../../fixtures/signed-endpoint.ts';

function shelf() {
  const things = new Set<string>();
  const put = defineTool({
    id: 'put',
    description: 'Puts a thing on the shelf',
    input: v.strictObject({ name: v.string() }),
    execute: ({ name }) => ({ put: things.add(name).has(name) }),
    undo: { describe: ({ name }) => ({ quote: name }), execute: ({ name }) => things.delete(name) },
  });
  const steps = ['a', 'b'].map((name) => callsTools({ tool: 'put', input: { name }, id: name }));
  return { things, runtime: testRuntime({ ...scriptedModel(...steps, says('Done')), tools: [put] }) };
}

describe('an undo from another process', () => {
  it('is previewed and confirmed through an endpoint', async () => {
    const { things, runtime } = shelf();
    const client = await (await signedEndpoint(runtime)).client();
    const runId = runIdOf(await readAll(await client.run(runRequest())));
    const { digest, calls } = await client.undo.preview(runId, { toStep: 1 });
    expect(calls).toMatchObject([{ toolCallId: 'b', step: 2, can: 'yes', quote: 'b' }]);
    await expect(client.undo.run(runId, { digest })).rejects.toMatchObject({
      code: 'conflict',
      details: { reason: 'preview_changed' },
    });
    const report = await client.undo.run(runId, { toStep: 1, digest });
    expect(report).toMatchObject({
      takenBack: [{ toolCallId: 'b' }],
      remains: [],
      isStored: false,
      message: { role: 'assistant' },
    });
    expect([...things]).toEqual(['a']);
    await expect(client.undo.preview('run_none')).rejects.toMatchObject({ code: 'not_found', status: 404 });
  });

  it('is previewed and confirmed through a worker', async () => {
    const { things, runtime } = shelf();
    const { port1, port2 } = new MessageChannel();
    onTestFinished(() => [port1, port2].forEach((port) => port.close()));
    exposeRuntime(runtime, port1);
    const remote = connectRuntime(port2);
    const runId = runIdOf(await readAll(await remote.run(runRequest(), localPrincipal())));
    const { digest } = await remote.undo.preview(runId, {});
    expect((await remote.undo.run(runId, { digest })).takenBack.map(({ quote }) => quote)).toEqual(['b', 'a']);
    expect(things.size).toBe(0);
  });
});
