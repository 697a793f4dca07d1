import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { eventStore } from '../../../../adapters/sinks/event-store.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { createHandler, type HandlerOptions } from '../../../../adapters/transport/http.ts';
import {
  createEventRing,
  createPrincipal,
  type EventRing,
  localPrincipal,
  type ObservedEvent,
  PinnaceError,
  type Principal,
  type Scope,
  type Storage,
} from '../../../../src/index.ts';
import { says, scriptedModel } from '../../../fixtures/model.ts';
import { testRuntime } from '../../../fixtures/runtime.ts';
import { signedEndpoint } from '../../../fixtures/signed-endpoint.ts';

interface Caller {
  readonly tenant?: string;
  readonly scopes?: readonly Scope[];
  readonly expiresAt?: number;
}

function principalOf({ tenant = 'one', scopes = ['admin', 'run:create'], expiresAt }: Caller = {}): Principal {
  const facts = { ...localPrincipal(), via: 'http', tenant, subject: `${tenant}-ada`, scopes } as const;
  if (expiresAt === undefined) return createPrincipal(facts);
  const session = {
    issuer: 'https://gc.example',
    certificateId: 'c1',
    keyThumbprint: 'k1',
    rootKeyId: 'r1',
    issuedAt: 0,
    expiresAt,
  };
  return createPrincipal({ ...facts, session });
}

/** An endpoint that believes `x-tenant`. */
function endpoint(caller: Caller = {}, { ring, ...options }: Partial<HandlerOptions> & { ring?: EventRing } = {}) {
  const runtime = testRuntime({
    model: scriptedModel(says('Hi')).model,
    storage: memoryStorage(),
    ...(ring && { ring }),
  });
  let revoke = (): void => undefined;
  const authenticator: HandlerOptions['authenticator'] = {
    authenticate: (request) => {
      const tenant = request.headers.get('x-tenant') ?? caller.tenant ?? 'one';
      return Promise.resolve(principalOf({ ...caller, tenant }));
    },
    onRevoked: (_, listener) => {
      revoke = listener;
      return () => undefined;
    },
  };
  const handle = createHandler(runtime, { authenticator, ...options });
  const happen = (action = 'sample.work', tenant = 'one', id = 'it') =>
    runtime.place(principalOf({ tenant })).emit({ action, target: { type: 'sample', id }, status: 'ok' });
  const get = (query = '', headers: Record<string, string> = {}) =>
    handle(new Request(`http://127.0.0.1/v1/events${query}`, { headers }));
  const openStreams = (): number => {
    const of = (name: string): number =>
      Number(new RegExp(`^${name} (\\d+)`, 'm').exec(runtime.metrics.text())?.[1] ?? 0);
    return of('pinnace_streams_opened_total') - of('pinnace_streams_closed_total');
  };
  return { runtime, happen, get, openStreams, revoke: () => revoke() };
}

/** Reads events of an answer one by one: all but `live`, or `live` too. */
function eventsOf({ body }: Response, { withLive = false }: { readonly withLive?: boolean } = {}) {
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
  const events: EventSourceMessage[] = [];
  const comments: string[] = [];
  const parser = createParser({
    onEvent: (event) => void (withLive || event.event !== 'live' ? events.push(event) : undefined),
    onComment: (text) => comments.push(text),
  });
  return {
    comments,
    async next(): Promise<EventSourceMessage | undefined> {
      while (events.length === 0) {
        const { done, value } = await reader.read();
        if (done) return undefined;
        parser.feed(value);
      }
      return events.shift();
    },
    cancel: () => reader.cancel(),
  };
}

const read = ({ data = '{}' }: Partial<EventSourceMessage> = {}): ObservedEvent => JSON.parse(data) as ObservedEvent; // as it was sent

afterEach(() => {
  vi.useRealTimers();
});

describe('GET /v1/events', () => {
  it('shows a tenant its own events only', async () => {
    const { get, happen } = endpoint();
    const events = eventsOf(await get());
    happen('sample.secret', 'two');
    happen('sample.own', 'one');
    await events.next();
    expect(read(await events.next()).action).toBe('sample.own');
    await events.cancel();
  });

  it('reports a gap after a restart, and when the observer was too late', async () => {
    const { get, happen } = endpoint();
    happen('sample.before');
    const elsewhere = eventsOf(await get('', { 'last-event-id': '00000000:7' }));
    await elsewhere.next();
    expect(await elsewhere.next()).toMatchObject({ event: 'gap', data: '{"reason":"unknown"}', id: undefined });
    expect(read(await elsewhere.next()).action).toBe('sample.before');
    await elsewhere.cancel();
    for (let i = 0; i < 2100; i++) happen('sample.flood');
    const late = eventsOf(await get('?after=0'));
    await late.next();
    expect(await late.next()).toMatchObject({ event: 'gap', data: '{"reason":"expired","dropped":101}' });
    await late.cancel();
  });

  it('reports at once that an id is too old, also when no event matches', async () => {
    const { get, happen } = endpoint();
    const first = eventsOf(await get());
    const { id = '' } = await first.next() ?? {};
    await first.cancel();
    for (let i = 0; i < 2005; i++) happen('sample.flood');
    const late = eventsOf(await get('?action=sample.rare', { 'last-event-id': id }));
    await late.next();
    expect(await late.next()).toMatchObject({ event: 'gap', data: '{"reason":"expired","dropped":5}' });
    await late.cancel();
  });

  it('allows a tenant eight event streams at once, and another when one has ended', async () => {
    const { get } = endpoint();
    const open = [];
    for (let i = 0; i < 8; i++) open.push(eventsOf(await get()));
    expect((await get()).status).toBe(429);
    expect((await get('', { 'x-tenant': 'two' })).status).toBe(200);
    await open[0]?.cancel();
    expect((await get()).status).toBe(200);
    await Promise.all(open.slice(1).map((events) => events.cancel()));
  });

  it('sends a sign of life while nothing happens', async () => {
    vi.useFakeTimers();
    const { get, happen } = endpoint({}, { keepAliveMs: 1000 });
    const events = eventsOf(await get());
    await events.next();
    const next = events.next();
    await vi.advanceTimersByTimeAsync(2500);
    happen();
    await next;
    expect(events.comments).toContain('keep-alive');
    await events.cancel();
  });

  it('ends with the certificate, and with its revocation', async () => {
    vi.useFakeTimers();
    const { get, openStreams } = endpoint({ expiresAt: Date.now() + 5000 }, { keepAliveMs: 1000 });
    const expiring = eventsOf(await get());
    await expiring.next();
    const end = expiring.next();
    await vi.advanceTimersByTimeAsync(6000);
    expect(await end).toBeUndefined();
    const { get: getOther, revoke } = endpoint();
    const revoked = eventsOf(await getOther());
    await revoked.next();
    revoke();
    expect(await revoked.next()).toBeUndefined();
    expect(openStreams()).toBe(0);
  });

  it('ends when the runtime closes', async () => {
    const { get, runtime } = endpoint();
    const events = eventsOf(await get());
    await events.next();
    await runtime.close();
    expect(await events.next()).toBeUndefined();
  });

  it.each<[what: string, query: string, headers: Record<string, string>, caller: Caller, status: number]>([
    ['a caller without the scope', '', {}, { scopes: ['run:read', 'registry:write'] }, 403],
    ['a trace that is none', '?traceId=x', {}, {}, 400],
    ['a field that is not known', '?tenant=two', {}, {}, 400],
    ['an id that is none', '', { 'last-event-id': 'x' }, {}, 400],
  ])('refuses %s', async (_, query, headers, caller, status) => {
    expect((await endpoint(caller).get(query, headers)).status).toBe(status);
  });
});

/** Two instances over one storage, each with a ring of its own. */
function instances(storage: Storage = memoryStorage(), more: Partial<Parameters<typeof eventStore>[0]> = {}) {
  const open = () => {
    const store = eventStore({ storage, maxWaitMs: 0, retryDelayMs: 0, ...more });
    return { store, ...endpoint({}, { ring: createEventRing({ capacity: 2, store }) }) };
  };
  return [open(), open()] as const;
}

describe('GET /v1/events of an endpoint that stores events', () => {
  it('resumes at another instance, and after a restart, from the same position', async () => {
    const storage = memoryStorage();
    const [one, other] = instances(storage);
    const first = eventsOf(await one.get());
    one.happen('sample.1');
    await first.next();
    const seen = await first.next();
    expect(seen?.id).toBe('log:1');
    await first.cancel();
    for (const action of ['sample.2', 'sample.3', 'sample.4', 'sample.5']) one.happen(action);
    await one.store.flush();
    const [restarted] = instances(storage);
    for (const instance of [one, other, restarted]) {
      const again = eventsOf(await instance.get('', { 'last-event-id': seen?.id ?? '' }));
      await again.next();
      const told = [await again.next(), await again.next(), await again.next(), await again.next()].map(read);
      expect(told.map(({ action }) => action)).toEqual(['sample.2', 'sample.3', 'sample.4', 'sample.5']);
      await again.cancel();
    }
  });

  it('streams the events of every instance, once and in one order', async () => {
    const [one, other] = instances();
    const [here, there] = [eventsOf(await one.get()), eventsOf(await other.get())];
    const next = async () => [read(await here.next()).action, read(await there.next()).action];
    await Promise.all([here.next(), there.next()]);
    one.happen('sample.1');
    expect(await next()).toEqual(['sample.1', 'sample.1']);
    other.happen('sample.2');
    expect(await next()).toEqual(['sample.2', 'sample.2']);
    await Promise.all([here.cancel(), there.cancel()]);
  });

  it('filters events, and keeps tenants apart', async () => {
    const [one, other] = instances();
    for (const [action, tenant] of [['sample.a', 'one'], ['sample.b', 'two'], ['sample.b', 'one']] as const) {
      one.happen(action, tenant);
    }
    await one.store.flush();
    const all = eventsOf(await other.get('?after=0'), { withLive: true });
    const some = eventsOf(await other.get('?after=0&action=sample.b'), { withLive: true });
    const told = async (from: typeof all, count: number) => {
      const events = await Array.fromAsync({ length: count }, () => from.next());
      return events.map((event) => event?.event ?? `${event?.id} ${read(event).action}`);
    };
    expect(await told(all, 4)).toEqual(['ready', 'log:1 sample.a', 'log:2 sample.b', 'live']);
    expect(await told(some, 3)).toEqual(['ready', 'log:2 sample.b', 'live']);
    await Promise.all([all.cancel(), some.cancel()]);
  });

  it.each([
    ['that another log has numbered', 'log:700', '{"reason":"unknown"}'],
    ['of an instance without a store', '0a1b2c3d:1', '{"reason":"unknown"}'],
  ])('says that it does not know what precedes an id %s, and sends all that it has', async (_, id, data) => {
    const [one] = instances();
    one.happen('sample.1');
    await one.store.flush();
    const events = eventsOf(await one.get('', { 'last-event-id': id }));
    await events.next();
    expect(await events.next()).toMatchObject({ event: 'gap', data });
    expect(read(await events.next()).action).toBe('sample.1');
    await events.cancel();
  });

  it('reports how many events after an id are no longer stored', async () => {
    let time = 0;
    const [one] = instances(memoryStorage({ now: () => time }), { retentionMs: 1000 });
    for (const action of ['sample.1', 'sample.2', 'sample.3']) one.happen(action);
    await one.store.flush();
    time = 999;
    one.happen('sample.4');
    await one.store.flush();
    time = 1500;
    const events = eventsOf(await one.get('', { 'last-event-id': 'log:1' }));
    await events.next();
    expect(await events.next()).toMatchObject({ event: 'gap', data: '{"reason":"expired","dropped":2}' });
    expect(read(await events.next()).action).toBe('sample.4');
    await events.cancel();
  });

  it('reports how many events could not be stored, also to observers with another filter', async () => {
    const inner = memoryStorage();
    let away = true;
    const storage: Storage = {
      ...inner,
      commit: (changes) => away ? Promise.reject(new Error('disk full')) : inner.commit(changes),
    };
    const [one] = instances(storage);
    one.happen('sample.1');
    one.happen('sample.2');
    await one.store.flush();
    away = false;
    one.happen('sample.3');
    await one.store.flush();
    expect(one.store.dropped).toBe(2);
    for (const query of ['?after=0', '?after=0&action=sample.3']) {
      const events = eventsOf(await one.get(query));
      await events.next();
      expect(await events.next()).toMatchObject({ event: 'gap', data: '{"reason":"lost","dropped":2}' });
      expect(read(await events.next()).action).toBe('sample.3');
      await events.cancel();
    }
  });

  it('streams more than one page', async () => {
    const [one] = instances();
    for (let i = 0; i < 450; i++) one.happen(`sample.${i}`);
    await one.store.flush();
    for (const query of ['?after=0', '?after=0&target=it']) {
      const events = eventsOf(await one.get(query));
      await events.next();
      const told = await Array.fromAsync({ length: 450 }, async () => read(await events.next()).action);
      expect(told).toEqual(Array.from({ length: 450 }, (_, i) => `sample.${i}`));
      await events.cancel();
    }
  });

  it('answers 503 where it cannot be read, and holds nothing open', async () => {
    const storage: Storage = { ...memoryStorage(), get: () => Promise.reject(new PinnaceError('unavailable', 'Away')) };
    const [one] = instances(storage);
    expect((await one.get()).status).toBe(503);
    expect(one.openStreams()).toBe(0);
    for (let i = 0; i < 10; i++) expect((await one.get()).status).toBe(503);
  });
});

describe('client.events', () => {
  it('streams each event once over connections that are cut', async () => {
    const runtime = testRuntime({ model: scriptedModel(says('Hi')).model, storage: memoryStorage() });
    const signed = await signedEndpoint(runtime);
    const cuts: (() => void)[] = [];
    const fetch = async (request: Request): Promise<Response> => {
      const { body, headers } = await signed.serve(request);
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
      const cut = new AbortController();
      cuts.push(() => cut.abort());
      void body?.pipeTo(writable, { signal: cut.signal }).catch(() => undefined);
      return new Response(readable, { headers });
    };
    const client = await signed.client({ scopes: ['admin'] }, { fetch });
    const happen = (action: string) =>
      runtime.place(principalOf({ tenant: 't1' })).emit({ action, target: { type: 's', id: 'x' }, status: 'ok' });
    const left = new AbortController();
    const stream = (await client.events({ signal: left.signal })).getReader();
    expect((await stream.read()).value).toEqual({ type: 'live' });
    happen('sample.1');
    expect((await stream.read()).value).toMatchObject({ type: 'event', event: { action: 'sample.1' } });
    cuts[0]?.();
    happen('sample.2');
    expect((await stream.read()).value).toMatchObject({ type: 'event', event: { action: 'sample.2' } });
    const end = stream.read();
    left.abort();
    expect((await end).done).toBe(true);
  });

  it('rejects as the endpoint refuses', async () => {
    const runtime = testRuntime({ model: scriptedModel(says('Hi')).model, storage: memoryStorage() });
    const client = await (await signedEndpoint(runtime)).client({ scopes: ['run:read'] });
    await expect(client.events()).rejects.toMatchObject({ code: 'forbidden' });
  });
});
