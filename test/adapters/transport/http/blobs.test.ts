import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { developmentAuthenticator } from '../../../../adapters/transport/development-authenticator.ts';
import { createHandler } from '../../../../adapters/transport/http.ts';
import type { UIMessage } from '../../../../src/index.ts';
import { readAll } from '../../../fixtures/runtime.ts';
import { signedEndpoint } from '../../../fixtures/signed-endpoint.ts';
import { dataUrl, fileMessage, fileRuntime, png } from '../../../src/runtime/attachments/fixtures.ts';

const image = png(70_000);
const imageFile = new Blob([image], { type: 'image/png' });

async function setup() {
  const storage = memoryStorage();
  const { runtime, calls } = fileRuntime({ storage });
  const endpoint = await signedEndpoint(runtime, { storage });
  return { endpoint, calls, client: await endpoint.client() };
}

/** An endpoint for requests by hand. */
function byHand(options: Parameters<typeof fileRuntime>[0] = {}) {
  const token = 'a-token-for-tests-only';
  const serve = createHandler(fileRuntime(options).runtime, { authenticator: developmentAuthenticator({ token }) });
  return (
    path: string,
    init: Omit<RequestInit, 'headers'> & { readonly duplex?: 'half'; readonly headers?: Record<string, string> },
  ) =>
    serve(
      new Request(`http://localhost${path}`, {
        ...init,
        headers: { ...init.headers, authorization: `Bearer ${token}` },
      }),
    );
}

describe('stored files over HTTP', () => {
  it('are those of the tenant alone: another one cannot read, use or delete them', async () => {
    const { client, endpoint } = await setup();
    const { id, url } = await client.blobs.upload(imageFile);
    const other = await endpoint.client({ tenant: 't2', scopes: ['run:create', 'run:read', 'admin'] });
    await expect(other.blobs.read(id)).rejects.toMatchObject({
      code: 'not_found',
      details: { reason: 'attachment_missing' },
    });
    await other.blobs.delete(id);
    const chunks = await readAll(
      await other.run({ agentId: 'helper', chat: { id: 'c', messages: [fileMessage([url])] } }),
    );
    expect(chunks.at(-1)).toMatchObject({ type: 'error', errorText: expect.stringContaining('not_found') });
    expect((await client.blobs.read(id)).size).toBe(image.length);
  });

  it('need the scopes of runs, and admin to be deleted', async () => {
    const { client, endpoint } = await setup();
    const { id } = await client.blobs.upload(imageFile);
    const reader = await endpoint.client({ scopes: ['run:read'] });
    await expect(reader.blobs.upload(imageFile)).rejects.toMatchObject({ code: 'forbidden' });
    const writer = await endpoint.client({ scopes: ['run:create'] });
    await expect(writer.blobs.read(id)).rejects.toMatchObject({ code: 'forbidden' });
    await expect(client.blobs.delete(id)).rejects.toMatchObject({ code: 'forbidden' });
    await (await endpoint.client({ scopes: ['admin'] })).blobs.delete(id);
    await expect(client.blobs.read(id)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('are of allowed types alone', async () => {
    const { client } = await setup();
    const svg = new Blob(['<svg onload="x()"/>'], { type: 'image/svg+xml' });
    await expect(client.blobs.upload(svg)).rejects.toMatchObject({ details: { reason: 'attachment_type' } });
    await expect(client.blobs.upload(new Blob([]))).rejects.toMatchObject({ details: { reason: 'attachment_type' } });
  });

  it('are served so that no browser runs them', async () => {
    const send = byHand();
    const body = '<script>alert(1)</script>';
    const headers = { 'content-type': 'text/html' };
    const { id, mediaType } = await (await send('/v1/blobs', { method: 'POST', body, headers })).json();
    expect(mediaType).toBe('text/plain');
    const response = await send(`/v1/blobs/${id}`, {});
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/plain',
      'content-disposition': 'attachment',
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-store',
    });
    await response.body?.cancel();
  });

  it('are refused when they are too large, also without a content-length', async () => {
    const send = byHand();
    const stream = (pieces: number) =>
      new ReadableStream({
        pull(controller) {
          if (pieces-- > 0) controller.enqueue(png(1_048_576));
          else controller.close();
        },
      });
    const headers = { 'content-type': 'image/png' };
    const large = await send('/v1/blobs', { method: 'POST', body: stream(11), headers, duplex: 'half' });
    expect([large.status, (await large.json()).details]).toMatchObject([413, { reason: 'attachment_too_large' }]);
    const endless = await send('/v1/blobs', { method: 'POST', body: stream(40), headers, duplex: 'half' });
    expect([endless.status, (await endless.json()).code]).toEqual([413, 'body_too_large']);
  });
});

describe('a run over HTTP', () => {
  it('refuses one with more as too large', async () => {
    const { client, calls } = await setup();
    const files = [1, 2, 3].map((fill) => dataUrl(png(3_600_000, fill)));
    const messages: UIMessage[] = [fileMessage(files)];
    await expect(client.run({ agentId: 'helper', chat: { id: 'c', messages } })).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { reason: 'attachment_too_large' },
    });
    expect(calls).toHaveLength(0);
  });
});
