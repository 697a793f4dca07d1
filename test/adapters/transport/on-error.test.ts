import { describe, expect, it, onTestFinished } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { connectRuntime, exposeRuntime } from '../../../adapters/transport/comlink.ts';
import { developmentAuthenticator } from '../../../adapters/transport/development-authenticator.ts';
import { createHandler } from '../../../adapters/transport/http.ts';
import { createGrounding, localPrincipal, type OnError } from '../../../src/index.ts';
import { fakeSource } from '../../fixtures/grounding-source.ts';
import { connectMcp, mcpHost } from '../../fixtures/mcp/mcp-connection.ts';
import { says, scriptedModel } from '../../fixtures/model.ts';
import { testRuntime } from '../../fixtures/runtime.ts';

const token = 'a-token-for-tests-only';

function recorder() {
  const reports: [unknown, Parameters<OnError>[1]][] = [];
  const onError: OnError = (cause, context) => void reports.push([cause, context]);
  return { reports, onError, runtime: testRuntime({ ...scriptedModel(says('ok')), onError }) };
}

/** An endpoint with a data source that always fails. */
function endpointOf({ runtime }: ReturnType<typeof recorder>, cause: unknown) {
  const storage = memoryStorage();
  const source = {
    ...fakeSource('manuals', () => Promise.reject(cause)),
    remember: () => Promise.reject(cause),
    forget: () => Promise.reject(cause),
  };
  const handler = createHandler(runtime, {
    authenticator: developmentAuthenticator({ token }),
    grounding: { grounding: createGrounding({ sources: [source] }), storage },
    capabilities: () => Promise.reject(cause),
  });
  return async (path: string, body?: unknown, accept = 'application/json'): Promise<Response> =>
    await handler(
      new Request(`http://127.0.0.1${path}`, {
        headers: { 'authorization': `Bearer ${token}`, 'content-type': 'application/json', accept },
        ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      }),
    );
}

describe('onError of an endpoint', () => {
  it('receives why an ingestion failed whose response had already started', async () => {
    const recorded = recorder();
    const cause = new TypeError('canary-2');
    const body = { files: [{ name: 'a.md', text: '# Anchor' }] };
    const response = await endpointOf(recorded, cause)('/v1/data-sources/manuals/ingest', body, 'text/event-stream');
    expect(response.status).toBe(200);
    const text = await response.text();
    expect(text).toContain('event: error');
    expect(text).not.toContain('canary');
    expect(recorded.reports.map(([one]) => one)).toEqual([cause]);
  });

  it('receives why the capabilities are missing in the readiness', async () => {
    const recorded = recorder();
    const cause = new TypeError('canary-3');
    const response = await endpointOf(recorded, cause)('/v1/readyz');
    expect(await response.json()).toMatchObject({ status: 'ok', capabilities: {} });
    expect(recorded.reports).toEqual([[cause, { kind: 'hook', id: 'capabilities' }]]);
  });
});

describe('onError of a runtime in a worker', () => {
  it('receives what a call threw, of which the page gets the code alone', async () => {
    const { runtime, reports } = recorder();
    const cause = new TypeError('canary-4');
    const { port1, port2 } = new MessageChannel();
    onTestFinished(() => [port1, port2].forEach((port) => port.close()));
    exposeRuntime({ ...runtime, manifest: () => Promise.reject(cause) }, port1);
    await expect(connectRuntime(port2).manifest('helper', localPrincipal())).rejects.toMatchObject({
      code: 'internal',
    });
    expect(reports).toEqual([[cause, { kind: 'run' }]]);
  });
});

describe('onError of an MCP server', () => {
  it('receives why the results of a search could not be reordered', async () => {
    const { reports, onError } = recorder();
    const cause = new TypeError('canary-5');
    const { client } = await connectMcp({ ...mcpHost(), rerank: () => Promise.reject(cause), onError });
    const result = await client.callTool({ name: 'tool_find', arguments: { query: 'add numbers, reverse text' } });
    expect(JSON.stringify(result)).toContain('add_numbers');
    expect(JSON.stringify(result)).not.toContain('canary');
    expect(reports).toEqual([[cause, { kind: 'hook', id: 'rerank' }]]);
  });

  it('receives why the tools of a caller could not be listed', async () => {
    const { reports, onError } = recorder();
    const cause = new TypeError('canary-6');
    const { client } = await connectMcp({ ...mcpHost(), tools: () => Promise.reject(cause), onError });
    const error: unknown = await client.listTools().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(reports).toEqual([[cause, { kind: 'mcp', id: 'tools' }]]);
  });
});
