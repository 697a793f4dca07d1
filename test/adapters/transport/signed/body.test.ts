import { describe, expect, it } from 'vitest';
import { readBody } from '../../../../adapters/transport/signed/body.ts';
import { createSession, verdict, withContentLength } from './session.ts';

describe('the body', () => {
  it('is refused beyond the limit, however it comes', async () => {
    const { authenticator, request } = await createSession({ maxBodyBytes: 100 });
    expect(await verdict(authenticator, await request({ body: 'x'.repeat(100) }))).toBe('ok');
    expect(await verdict(authenticator, await request({ body: 'x'.repeat(101) }))).toBe('413 body_too_large');
    expect(await verdict(authenticator, withContentLength(await request({ body: 'x' }), 101)))
      .toBe('413 body_too_large');
  });

  it('may be larger on one route than on another', async () => {
    const { authenticator, request } = await createSession({
      maxBodyBytes: ({ url }) => new URL(url).pathname === '/v1/import' ? 1000 : 10,
    });
    const body = 'x'.repeat(500);
    expect(await verdict(authenticator, await request({ body }))).toBe('413 body_too_large');
    expect(await verdict(authenticator, await request({ body, url: 'https://worker.example/v1/import' }))).toBe('ok');
  });

  it('is not read to its end when it has none', async () => {
    let sent = 0;
    let cancelled = false;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent++;
        controller.enqueue(new Uint8Array(1000));
      },
      cancel: () => void (cancelled = true),
    }, { highWaterMark: 0 });
    const request = new Request('https://worker.example/', { method: 'POST', body, duplex: 'half' } as RequestInit);
    await expect(readBody(request, { maxBytes: 10_000 })).rejects.toMatchObject({
      status: 413,
      code: 'body_too_large',
    });
    await Promise.resolve();
    expect(sent).toBeLessThan(20);
    expect(cancelled).toBe(true);
  });

  it('is read once for the authenticator and for later readers', async () => {
    const { authenticator, request } = await createSession();
    const signed = await request();
    await authenticator.authenticate(signed);
    const first = await readBody(signed, { maxBytes: 1000 });
    expect(new TextDecoder().decode(first)).toBe('{"agentId":"helper"}');
    expect(await readBody(signed, { maxBytes: 1000 })).toBe(first);
    await expect(readBody(signed, { maxBytes: 5 })).rejects.toMatchObject({ code: 'body_too_large' });
  });

  it('can still be read from the request itself', async () => {
    const { authenticator, request } = await createSession();
    const signed = await request();
    await authenticator.authenticate(signed);
    expect(await signed.json()).toEqual({ agentId: 'helper' });
  });
});
