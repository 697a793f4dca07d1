import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { staticCatalog } from '../../../../adapters/catalog/static.ts';
import type { Catalog, Storage } from '../../../../src/index.ts';
import type { Key } from '../../../../src/base/key.ts';
import { createMetrics } from '../../../../src/base/metrics.ts';
import { createResolver, type Resolver } from '../../../../src/runtime/resolver.ts';
import { scriptedModel } from '../../../fixtures/model.ts';

const caller = { tenant: 't', via: 'http' } as const;

/** A source whose agent changes, and instances over one storage. `held` resolves when a held load has reached it; that load answers what the source held when it started. */
function setUp() {
  const storage = memoryStorage();
  const { promise: held, resolve: isHeld } = Promise.withResolvers<void>();
  const source = { name: 'old', revision: 1, loads: 0 };
  const change = (name: string, revision = source.revision + 1): void => void Object.assign(source, { name, revision });
  const instance = (over: Storage = storage) => {
    let gate: Promise<void> | undefined;
    const current = (): Catalog =>
      staticCatalog({
        agents: [{ id: 'helper', name: source.name, revision: source.revision, providerId: 'p' }],
        providers: [{ id: 'p', kind: 'custom' }],
      });
    const catalog: Catalog = {
      ...current(),
      source: 'test',
      async agent(id) {
        source.loads += 1;
        const answer = await current().agent(id);
        if (gate) isHeld();
        await gate;
        return answer;
      },
    };
    const resolver = createResolver({
      catalog,
      storage: over,
      models: { model: () => scriptedModel().model },
      secrets: undefined,
      metrics: createMetrics(),
      emit: () => undefined,
      now: () => 0,
      onAgentsChanged: () => undefined,
    });
    /** Holds the next loads of this instance until the function is called that it returns. */
    const hold = (): () => void => {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return () => (gate = undefined, resolve());
    };
    return { resolver, hold };
  };
  return { storage, source, held, change, instance };
}

/** The name of the agent as the next request finds it. */
async function nextRequest({ resolver }: { readonly resolver: Resolver }): Promise<string> {
  await resolver.refresh();
  return (await resolver.agent('helper', caller)).name;
}

/** A storage that can stop answering what an instance reads invalidations from. */
function cutOff(storage: Storage): Storage & { isCutOff: boolean } {
  const cut = {
    ...storage,
    isCutOff: false,
    get: (key: Key) => cut.isCutOff && key[0] === 'bulletin' ? Promise.reject(new Error('Cut off')) : storage.get(key),
  };
  return cut;
}

describe('an invalidation and a load in flight on another instance', () => {
  it.each(['agent:helper', 'agent', '*'])('%s beats what that load writes for all instances', async (key) => {
    const { storage, held, change, instance } = setUp();
    const cut = cutOff(storage);
    const [slow, writer, reader] = [instance(cut), instance(), instance()];
    await Promise.all([slow, writer, reader].map(({ resolver }) => resolver.refresh()));
    cut.isCutOff = true; // it has not read the invalidation when its load ends
    const release = slow.hold();
    const before = nextRequest(slow);
    await held;
    change('new');
    await writer.resolver.invalidate([key]);
    release();
    expect(await before).toBe('old'); // it started before the invalidation
    expect(await nextRequest(reader)).toBe('new');
    cut.isCutOff = false;
    expect(await nextRequest(slow)).toBe('new');
    expect(await nextRequest(writer)).toBe('new');
  });

  it('holds for an instance that starts after the invalidation', async () => {
    const { storage, held, change, instance } = setUp();
    const cut = cutOff(storage);
    const [slow, writer] = [instance(cut), instance()];
    await slow.resolver.refresh();
    cut.isCutOff = true;
    const release = slow.hold();
    const before = nextRequest(slow);
    await held;
    change('new');
    await writer.resolver.invalidate(['agent:helper']);
    release();
    await before;
    expect(await nextRequest(instance())).toBe('new');
    cut.isCutOff = false;
    expect(await nextRequest(slow)).toBe('new');
  });

  it('holds for an instance whose first act is an invalidation', async () => {
    const { storage, held, change, instance } = setUp();
    const cut = cutOff(storage);
    const [slow, writer, late] = [instance(cut), instance(), instance()];
    await writer.resolver.invalidate(['tools']);
    await slow.resolver.refresh();
    cut.isCutOff = true;
    const release = slow.hold();
    const before = nextRequest(slow);
    await held;
    change('new');
    await writer.resolver.invalidate(['agent:helper']);
    await late.resolver.invalidate(['agent']);
    release();
    await before;
    expect(await nextRequest(late)).toBe('new');
  });
});

describe('an invalidation', () => {
  it('is not undone by an own load in flight', async () => {
    const { held, change, instance } = setUp();
    const here = instance();
    const release = here.hold();
    const before = nextRequest(here);
    await held;
    change('new');
    await here.resolver.invalidate(['agent:helper']);
    const after = nextRequest(here);
    release();
    expect([await before, await after]).toEqual(['old', 'new']);
    expect(await nextRequest(instance())).toBe('new');
  });

  it('leaves what is loaded after it to all instances', async () => {
    const { source, change, instance } = setUp();
    const [a, b] = [instance(), instance()];
    expect([await nextRequest(a), await nextRequest(b)]).toEqual(['old', 'old']);
    change('new');
    await a.resolver.invalidate(['agent:helper']);
    expect([await nextRequest(a), await nextRequest(b), await nextRequest(instance())]).toEqual(['new', 'new', 'new']);
    expect(source.loads).toBe(2);
  });

  it('leaves the shared values of other agents as they are', async () => {
    const { source, instance } = setUp();
    const [a, b] = [instance(), instance()];
    await b.resolver.refresh();
    await expect(b.resolver.agent('other', caller)).rejects.toMatchObject({ code: 'not_found' });
    await nextRequest(a);
    expect(source.loads).toBe(2);
    await a.resolver.invalidate(['agent:other']);
    await nextRequest(b);
    expect(source.loads).toBe(2);
  });

  it('takes effect here even when it cannot be published', async () => {
    const { storage, change, instance } = setUp();
    let isFull = false;
    const full: Storage = {
      ...storage,
      commit: (changes) =>
        isFull && changes[0]?.key[0] === 'bulletin' ? Promise.reject(new Error('Full')) : storage.commit(changes),
    };
    const here = instance(full);
    await nextRequest(here);
    change('new');
    isFull = true;
    await expect(here.resolver.invalidate(['agent:helper'])).rejects.toThrow('Full');
    expect(await nextRequest(here)).toBe('new');
  });
});

describe('the revision of a shared record', () => {
  it('keeps an instance from going back to what a source that lags behind has returned to another', async () => {
    const { change, instance } = setUp();
    const [lagging, reader] = [instance(), instance()];
    change('new', 2);
    expect(await nextRequest(reader)).toBe('new');
    await reader.resolver.invalidate(['agent:helper']);
    change('old', 1);
    expect(await nextRequest(lagging)).toBe('old');
    change('new', 2);
    expect(await nextRequest(reader)).toBe('new');
  });

  it('may fall where the source itself returns a lower one', async () => {
    const { source, change, instance } = setUp();
    const [a, b] = [instance(), instance()];
    change('restored later', 7);
    expect([await nextRequest(a), await nextRequest(b)]).toEqual(['restored later', 'restored later']);
    change('restored', 2);
    await a.resolver.invalidate(['*']);
    expect([await nextRequest(a), await nextRequest(b)]).toEqual(['restored', 'restored']);
    expect(source.loads).toBe(3); // `b` has seen a higher one, and asks the source
  });
});
