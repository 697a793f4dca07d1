import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { developmentAuthenticator } from '../../../adapters/transport/development-authenticator.ts';
import { createHandler } from '../../../adapters/transport/http.ts';
import { createPrincipal, defineTool, localPrincipal, type UIMessage } from '../../../src/index.ts';
import { callsTools, says, scriptedModel } from '../../fixtures/model.ts';
import { lastData, readAll, runRequest, testRuntime, userMessage } from '../../fixtures/runtime.ts';

const token = 'a-token-for-tests-only';
/** The holder of the token. */
const me = createPrincipal({ ...localPrincipal(), tenant: 'development', subject: 'developer' });

/** An endpoint at which one call waits for a person, and what sends a decision on it. */
async function setup() {
  const deleted: string[] = [];
  const tool = defineTool({
    id: 'delete_note',
    description: 'Deletes a note',
    approval: 'always',
    input: v.strictObject({ noteId: v.string() }),
    execute: ({ noteId }) => (deleted.push(noteId), 'gone'),
  });
  const { model } = scriptedModel(callsTools({ tool: 'delete_note', input: { noteId: 'n1' } }), says('Done'));
  const runtime = testRuntime({ model, tools: [tool] });
  const handler = createHandler(runtime, { authenticator: developmentAuthenticator({ token }) });
  const chunks = await readAll(await runtime.run(runRequest(), me));
  const asked = chunks.find((chunk) => chunk.type === 'tool-approval-request');
  if (asked?.type !== 'tool-approval-request') throw new Error('Nothing was asked');
  const { approvalId } = asked;
  const runId = String(lastData(chunks, 'data-run')['runId']);
  const decide = async (body: BodyInit, path = `/v1/runs/${runId}/approvals/${approvalId}`) => {
    const headers = { 'authorization': `Bearer ${token}`, 'content-type': 'application/json' };
    return await handler(new Request(`http://127.0.0.1${path}`, { method: 'POST', headers, body }));
  };
  const waiting = {
    id: 'm2',
    role: 'assistant',
    parts: [{
      type: 'tool-delete_note',
      toolCallId: 'call-0',
      input: { noteId: 'n1' },
      state: 'approval-responded',
      approval: { id: approvalId, approved: true },
    }],
  } as UIMessage;
  const goOn = async () => {
    const chat = { id: 'chat-1', messages: [userMessage('Delete n1'), waiting] };
    return await readAll(await runtime.run(runRequest({ chat }), me));
  };
  return { deleted, decide, goOn, runId, approvalId };
}

const yes = '{"approved":true}';

describe('a decision over HTTP', () => {
  it.each<[string, (ids: { readonly runId: string; readonly approvalId: string }) => [BodyInit, string?], number]>([
    ['that says yes and no', () => ['{"approved":false,"approved":true}'], 400],
    ['that only looks like a yes', () => ['{"approved":"true"}'], 400],
    ['that is a number', () => ['{"approved":1}'], 400],
    ['whose yes is inherited', () => ['{"__proto__":{"approved":true}}'], 400],
    ['with more than was asked', () => ['{"approved":true,"input":{"noteId":"n2"}}'], 400],
    ['whose reason has half a character', () => ['{"approved":true,"reason":"\\ud800"}'], 400],
    ['whose reason is 10 MB', () => [`{"approved":true,"reason":"${'x'.repeat(10_000_000)}"}`], 413],
    ['that is a list', () => ['[{"approved":true}]'], 400],
    ['of another run', ({ approvalId }) => [yes, `/v1/runs/run_${'0'.repeat(32)}/approvals/${approvalId}`], 404],
    ['with another id', ({ runId }) => [yes, `/v1/runs/${runId}/approvals/apr_${'0'.repeat(32)}`], 404],
    [
      'with an id of 100,000 characters',
      ({ runId }) => [yes, `/v1/runs/${runId}/approvals/${'a'.repeat(100_000)}`],
      404,
    ],
    ['whose id climbs', ({ runId, approvalId }) => [yes, `/v1/runs/x%2F..%2F${runId}/approvals/${approvalId}`], 404],
    ['whose id ends in a zero', ({ runId, approvalId }) => [yes, `/v1/runs/${runId}/approvals/${approvalId}%00`], 404],
    ['whose id is no text', ({ runId }) => [yes, `/v1/runs/${runId}/approvals/%FF%FE`], 404],
  ])('%s decides nothing, and the call is not made', async (_, forge, status) => {
    const { deleted, decide, goOn, ...ids } = await setup();
    expect((await decide(...forge(ids))).status).toBe(status);
    await goOn();
    expect(deleted).toEqual([]);
    expect((await decide(yes)).status).toBe(204); // it is still open
  });

  it('is made once: the same again, and its opposite, are refused', async () => {
    const { deleted, decide, goOn } = await setup();
    expect((await decide('{"approved":false}')).status).toBe(204);
    for (const body of [yes, '{"approved":false}']) expect((await decide(body)).status).toBe(409);
    await goOn();
    expect(deleted).toEqual([]);
  });
});
