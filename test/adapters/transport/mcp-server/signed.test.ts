import { describe, expect, it } from 'vitest';
import { addTool, answerOf, endlessTool, mcpEndpoint, mcpRuntime } from '../../../fixtures/mcp/mcp-host.ts';
import { createSession, iss, type TestSession } from '../signed/session.ts';

const url = 'https://worker.example/mcp';
const headers = { 'accept': 'application/json, text/event-stream', 'idempotency-key': null };

function call(name: string, input = {}): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: input } });
}

function open({ authenticator, clock }: TestSession, tool = addTool) {
  const runtime = mcpRuntime({ tools: [tool] });
  return mcpEndpoint({ runtime, authenticator, now: clock.now, mcp: { hosts: ['worker.example'], listed: ['*'] } });
}

describe('an MCP client that signs its requests', () => {
  it('is served', async () => {
    const session = await createSession();
    const request = await session.request({ url, headers, body: call('add_numbers', { a: 2, b: 3 }) });
    expect((await answerOf(open(session)(request))).result).toMatchObject({ structuredContent: { sum: 5 } });
  });

  it('is refused when its message was changed on the way', async () => {
    const session = await createSession();
    const signed = await session.request({ url, headers, body: call('add_numbers', { a: 2, b: 3 }) });
    const changed = new Request(url, {
      method: 'POST',
      headers: signed.headers,
      body: call('add_numbers', { a: 2, b: 4 }),
    });
    expect(await (await open(session)(changed)).json()).toMatchObject({ code: 'digest_mismatch' });
  });

  it('is refused the same message twice', async () => {
    const session = await createSession();
    const serve = open(session);
    const request = await session.request({ url, headers, body: call('add_numbers', { a: 2, b: 3 }) });
    const again = request.clone();
    expect((await serve(request)).status).toBe(200);
    expect((await serve(again)).status).toBe(401);
  });

  it('has its calls stopped when its session is revoked', async () => {
    const session = await createSession();
    const { tool, started, stopped } = endlessTool();
    const answer = open(session, tool)(await session.request({ url, headers, body: call('work_endlessly') }));
    await started;
    await session.authenticator.revoke({ kind: 'certificate', issuer: iss, certificateId: 'certificate-1' });
    await expect(stopped).resolves.toBeUndefined();
    await (await answer).body?.cancel();
  });
});
