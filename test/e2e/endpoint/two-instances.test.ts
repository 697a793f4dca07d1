import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { calculateJwkThumbprint, exportJWK } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CertificateIssuer, createIssuer } from '../../../adapters/transport/issuer.ts';
import { createContentDigest, signRequest } from '../../../adapters/transport/signed/signature.ts';
import { scopes as allScopes } from '../../../src/base/principal.ts';
import { runRequest, userMessage } from '../../fixtures/runtime.ts';
import { type EndpointProcess, startEndpoint } from '../../tools/servers/endpoint.ts';

let folder: string;
let issuer: CertificateIssuer;
let a: EndpointProcess;
let b: EndpointProcess;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pinnace-two-'));
  issuer = await createIssuer({ iss: 'https://issuer.test', audience: 'crash' });
  await writeAgent({});
  [a, b] = await Promise.all([start(), start()]);
});
afterAll(async () => {
  await Promise.all([a?.stop('SIGKILL'), b?.stop('SIGKILL')]);
  await rm(folder, { recursive: true, force: true });
});

function start(): Promise<EndpointProcess> {
  return startEndpoint({
    script: 'test/fixtures/processes/crash-server.ts',
    env: {
      PINNACE_KV: join(folder, 'state.kv'),
      CRASH_AGENT: join(folder, 'agent.json'),
      CRASH_EFFECTS: join(folder, 'effects'),
      CRASH_ISSUERS: JSON.stringify([issuer.trusted]),
    },
    permissions: [`--allow-read=${folder}`, `--allow-write=${folder}`],
  });
}

/** Changes the agent behind the caches of both. */
function writeAgent(agent: Record<string, unknown>): Promise<void> {
  return writeFile(join(folder, 'agent.json'), JSON.stringify(agent));
}

interface Call {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

function call({ url, token }: EndpointProcess, path: string, { method = 'GET', body, headers }: Call = {}) {
  return fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

let keys = 0;

function run(endpoint: EndpointProcess, text: string, key = `the-key-of-test-run-${++keys}`): Promise<Response> {
  const body = runRequest({ chat: { id: key, messages: [userMessage(text)] } });
  return call(endpoint, '/v1/runs', { method: 'POST', body, headers: { 'idempotency-key': `"${key}"` } });
}

/** Reads until the text holds this, and leaves. */
async function readUntil(response: Response, wanted: string): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    if (text.includes(wanted)) return text;
  }
  throw new Error(`The stream ended without ${wanted}: ${text}`);
}

function streamOf(endpoint: EndpointProcess, response: Response, headers: Record<string, string> = {}) {
  return call(endpoint, `/v1/runs/${response.headers.get('x-run-id')}/stream`, { headers });
}

const opening = 'retry: 1000\n\n';

describe('two instances on one Deno KV file', () => {
  it('give the same bytes of a run, the one that executes it and the one that follows it', async () => {
    const first = await run(a, 'words 40');
    const followed = await streamOf(b, first);
    const [own, other] = await Promise.all([first.text(), followed.text()]);
    expect(own).toMatch(/"type":"finish".*\n\ndata: \[DONE\]\n\n$/);
    expect(other).toBe(own);
  });

  it('let a reader go on at the other where its connection was cut', async () => {
    const first = await run(a, 'words 40');
    const seen = await readUntil(first, '"w9 "');
    const lastWhole = seen.slice(0, seen.lastIndexOf('\n\n') + 2);
    const lastId = /id: (.*)\n[^\n]*\n\n$/.exec(lastWhole)?.[1] ?? '';
    const rest = await (await streamOf(b, first, { 'last-event-id': lastId })).text();
    const replay = await (await streamOf(a, first)).text();
    expect(rest).not.toContain('"w9 "');
    expect(lastWhole + rest.slice(opening.length)).toBe(replay);
  });

  it('replay a run that has ended, for its id and for its key', async () => {
    const text = 'append replayed';
    const first = await run(a, text, 'a-key-that-both-know');
    const own = await first.text();
    const byId = await (await streamOf(b, first)).text();
    const byKey = await run(b, text, 'a-key-that-both-know');
    expect(own).toContain('"output":"appended"');
    expect(byId).toBe(own);
    expect(byKey.headers.get('idempotency-replayed')).toBe('true');
    expect(await byKey.text()).toBe(own);
  });

  it('point a retry at the run that the other executes', async () => {
    const first = await run(a, 'words 40', 'a-key-that-is-busy');
    const again = await run(b, 'words 40', 'a-key-that-is-busy');
    expect(again.status).toBe(409);
    const { pathname } = new URL(again.headers.get('location') ?? '', b.url);
    const joined = await (await call(b, pathname)).text();
    expect(joined).toBe(await first.text());
  });

  it('cancel a run of the other', async () => {
    const first = await run(a, 'words 1000');
    await readUntil(await streamOf(b, first), '"w3 "');
    const path = `/v1/runs/${first.headers.get('x-run-id')}`;
    expect((await call(b, path, { method: 'DELETE' })).status).toBe(202);
    const text = await first.text();
    expect(text).toContain('data: {"type":"abort","reason":"cancelled"}');
    expect(await (await streamOf(b, first)).text()).toBe(text);
    expect(await (await call(b, path)).json()).toMatchObject({ state: 'cancelled' });
  });

  it('receive an invalidation from the other before their next request', async () => {
    for (let round = 0; round < 10; round++) {
      for (const endpoint of [a, b]) await (await run(endpoint, 'hello')).text();
      await writeAgent({ state: 'disabled' });
      expect((await run(b, 'hello')).status).toBe(200); // from its cache
      await invalidate(a);
      expect((await run(b, 'hello')).status).toBe(403);
      await writeAgent({});
      await invalidate(b);
      expect((await run(a, 'hello')).status).toBe(200);
    }
  });

  it('accept a signature once, whichever sees it first', async () => {
    const headers = await signedHeaders();
    const first = await sendSigned(a, headers);
    expect(first.status).toBe(200);
    expect(first.text).toContain('"type":"finish"');
    const again = await sendSigned(b, headers);
    expect(again.status).toBe(401);
    expect(JSON.parse(again.text)).toMatchObject({ code: 'signature_replayed' });
    const anew = await sendSigned(b, await signedHeaders());
    expect(anew.status).toBe(200);
    expect(anew.headers['idempotency-replayed']).toBe('true');
    expect(anew.text).toBe(first.text);
  });
});

async function invalidate(endpoint: EndpointProcess): Promise<void> {
  const { status } = await call(endpoint, '/v1/invalidations', { method: 'POST', body: { keys: ['agent:helper'] } });
  expect(status).toBe(204);
}

/** The name under which both are reached, as behind a load balancer. */
const authority = 'pinnace.test';
const signedBody = JSON.stringify(runRequest({ chat: { id: 'signed', messages: [userMessage('Hello')] } }));

/** Headers for `signedBody` under one idempotency key, signed anew each time. */
async function signedHeaders(): Promise<Headers> {
  const keyPair = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify']);
  const { certificate, key } = await issuer.issue({
    sub: 's1',
    tenant: 't1',
    agents: '*',
    scopes: allScopes,
    keys: keyPair,
  });
  const headers = new Headers({
    'authorization': `GC-Session ${certificate}`,
    'content-type': 'application/json',
    'content-digest': await createContentDigest(new TextEncoder().encode(signedBody)),
    'idempotency-key': '"the-key-of-a-signed-request"',
  });
  return await signRequest({ method: 'POST', url: new URL(`http://${authority}/v1/runs`), headers }, {
    key,
    keyThumbprint: await calculateJwkThumbprint(await exportJWK(keyPair.publicKey)),
    nowSeconds: Math.floor(Date.now() / 1000),
    nonce: crypto.randomUUID(),
  });
}

async function sendSigned({ url }: EndpointProcess, headers: Headers) {
  const request = httpRequest(`${url}/v1/runs`, {
    method: 'POST',
    headers: { ...Object.fromEntries(headers), host: authority },
  });
  request.end(signedBody);
  const [response] = await once(request, 'response') as [IncomingMessage];
  let text = '';
  for await (const bytes of response) text += String(bytes);
  return { status: response.statusCode, headers: response.headers, text };
}
