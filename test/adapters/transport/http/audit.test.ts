import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { createAudit } from '../../../../src/events/audit.ts';
import type { ObservedEvent } from '../../../../src/index.ts';
import { says, scriptedModel } from '../../../fixtures/model.ts';
import { testRuntime } from '../../../fixtures/runtime.ts';
import { signedEndpoint } from '../../../fixtures/signed-endpoint.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';

function event(number: number, facts: Partial<ObservedEvent> = {}): ObservedEvent {
  return {
    timestamp: new Date(Date.UTC(2026, 10, 21, 8, number)).toISOString(),
    traceId,
    actor: { type: 'user', id: 'ada' },
    action: 'registry.update',
    target: { type: 'agent', id: `agent-${number}` },
    status: 'ok',
    latency: 0,
    error: null,
    payloadSummary: '',
    ...facts,
  };
}

/** An endpoint with an audit in which tenant `t1` has five entries. */
async function setup() {
  const storage = memoryStorage();
  const audit = createAudit({ storage });
  const runtime = testRuntime({ model: scriptedModel(says('Hi')).model, storage, audit });
  await audit.log('t1').append([0, 1, 2, 3, 4].map((number) => event(number)));
  await audit.log('t2').append([event(0, { actor: { type: 'user', id: 'eve' } })]);
  const signed = await signedEndpoint(runtime);
  const clientOf = (tenant: string) => signed.client({ scopes: ['admin'], tenant });
  return { storage, signed, audit, clientOf };
}

const targetsOf = ({ items }: { readonly items: readonly { readonly event: ObservedEvent }[] }): string[] =>
  items.map(({ event: { target } }) => target.id);

describe('the audit over HTTP', () => {
  it('is read page by page, the oldest first', async () => {
    const { clientOf } = await setup();
    const { audit } = await clientOf('t1');
    const first = await audit.list({ limit: 3 });
    expect(targetsOf(first)).toEqual(['agent-0', 'agent-1', 'agent-2']);
    expect(first.items[0]).toMatchObject({ seq: 1, prevHash: '0'.repeat(64), event: event(0) });
    const second = await audit.list({ limit: 3, pageToken: first.nextPageToken });
    expect(targetsOf(second)).toEqual(['agent-3', 'agent-4']);
  });

  it('answers who did what, to what and when', async () => {
    const { clientOf } = await setup();
    const { audit } = await clientOf('t1');
    expect(targetsOf(await audit.list({ target: 'agent-2' }))).toEqual(['agent-2']);
    expect(targetsOf(await audit.list({ actor: 'eve' }))).toEqual([]);
    const [from, until] = [Date.UTC(2026, 10, 21, 8, 1), Date.UTC(2026, 10, 21, 8, 3)];
    expect(targetsOf(await audit.list({ traceId, action: 'registry.update', from, until }))).toEqual([
      'agent-1',
      'agent-2',
    ]);
  });

  it('shows a tenant its own entries only', async () => {
    const { clientOf } = await setup();
    const { audit } = await clientOf('t2');
    expect((await audit.list()).items.map(({ event: { actor } }) => actor.id)).toEqual(['eve']);
    expect(await audit.verify()).toMatchObject({ ok: true, checked: 1 });
    expect(targetsOf(await (await clientOf('t3')).audit.list())).toEqual([]);
  });

  it('reports whether it is complete, and where it is broken', async () => {
    const { clientOf, storage } = await setup();
    const { audit } = await clientOf('t1');
    expect(await audit.verify()).toMatchObject({ ok: true, checked: 5 });
    const prefix = ['event-log', 'audit/t1', 'event'];
    const [, , third] = await storage.list({ prefix, limit: 10 });
    await storage.commit([{ key: third!.key, value: { ...third!.value as object, event: event(9) } }]);
    expect(await audit.verify()).toMatchObject({ ok: false, checked: 2, brokenAt: 3 });
  });

  it('is verified against a head that was stored elsewhere', async () => {
    const { clientOf, storage, audit: stored } = await setup();
    const { audit } = await clientOf('t1');
    const { head: anchor } = await audit.verify();
    expect(anchor).toEqual({ seq: 5, hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
    await stored.log('t1').append([event(5)]);
    expect(await audit.verify({ anchor })).toMatchObject({ ok: true, checked: 6, head: { seq: 6 } });
    const other = { seq: 5, hash: 'f'.repeat(64) };
    expect(await audit.verify({ anchor: other })).toMatchObject({
      ok: false,
      brokenAt: 5,
      reason: 'anchor_mismatch',
    });
    const later = { seq: 7, hash: anchor.hash };
    expect(await audit.verify({ anchor: later })).toMatchObject({ ok: false, brokenAt: 7, reason: 'anchor_missing' });
    await storage.commit([{ key: ['event-log', 'audit/t1', 'head'], value: anchor }]);
    expect(await audit.verify()).toMatchObject({ ok: false, brokenAt: 6, reason: 'entries_beyond_head' });
  });

  it.each<[what: string, query: string]>([
    ['without a hash', 'seq=5'],
    ['without a number', `hash=${'0'.repeat(64)}`],
    ['with a number that is none', `seq=05&hash=${'0'.repeat(64)}`],
    ['with a negative number', `seq=-5&hash=${'0'.repeat(64)}`],
    ['with an empty number', `seq=&hash=${'0'.repeat(64)}`],
    ['with a hash that is too short', 'seq=5&hash=00'],
    ['with an upper-case hash', `seq=5&hash=${'F'.repeat(64)}`],
    ['that is given twice', `seq=5&seq=6&hash=${'0'.repeat(64)}`],
    ['with a field that is not known', `seq=5&hash=${'0'.repeat(64)}&after=5`],
  ])('rejects an anchor %s', async (_, query) => {
    const { clientOf } = await setup();
    await expect((await clientOf('t1')).call('GET', `/v1/audit/verification?${query}`)).rejects.toMatchObject({
      code: 'invalid_argument',
    });
  });

  it.each<[what: string, path: string]>([
    ['a limit beyond a page', '/v1/audit?limit=5000'],
    ['a time that is none', '/v1/audit?from=yesterday'],
    ['a field that is not known', '/v1/audit?tenant=t2'],
    ['a page token that is none', '/v1/audit?pageToken=x'],
  ])('refuses %s', async (_, path) => {
    const { clientOf } = await setup();
    await expect((await clientOf('t1')).call('GET', path)).rejects.toMatchObject({ code: 'invalid_argument' });
  });

  it('is for administrators, and not found where the endpoint has none', async () => {
    const { signed } = await setup();
    const reader = await signed.client({ scopes: ['run:read', 'registry:write'] });
    await expect(reader.audit.list()).rejects.toMatchObject({ code: 'forbidden' });
    await expect(reader.audit.verify()).rejects.toMatchObject({ code: 'forbidden' });
    const without = await signedEndpoint(testRuntime({ model: scriptedModel(says('Hi')).model }));
    const admin = await without.client({ scopes: ['admin'] });
    await expect(admin.audit.list()).rejects.toMatchObject({ code: 'not_found' });
  });
});
