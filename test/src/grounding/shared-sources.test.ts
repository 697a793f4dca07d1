import { describe, expect, it } from 'vitest';
import { textSource } from '../../../adapters/grounding/text.ts';
import { vectorSource } from '../../../adapters/grounding/vector.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import {
  createGrounding,
  createPrincipal,
  localPrincipal,
  PinnaceError,
  type Principal,
  type Storage,
} from '../../../src/index.ts';
import { forgetFile, type Grounding, ingest, perSubject } from '../../../src/grounding/index.ts';

function person(tenant: string, subject = 'ada'): Principal {
  return createPrincipal({ via: 'http', tenant, subject, agents: '*', scopes: ['grounding:read', 'admin'] });
}

async function found(grounding: Grounding, principal: Principal, query = 'key anchor'): Promise<readonly string[]> {
  const { hits } = await grounding.retrieve({ dataSourceId: 'handbook', query }, { principal });
  return hits.map(({ content }) => content);
}

function keep(grounding: Grounding, text: string, call: Parameters<Grounding['remember']>[1], id = text) {
  return grounding.remember({ dataSourceId: 'handbook', items: [{ id, text }] }, call);
}

const file = { name: 'ship.md', text: () => 'The spare key hangs aft' };

describe.each<[string, Storage | undefined]>([['a storage', memoryStorage()], ['memory', undefined]])(
  'a shared source in %s',
  (_, storage) => {
    const setUp = (given = storage && memoryStorage()) =>
      createGrounding({ sources: [textSource({ id: 'handbook', shared: true, ...(given && { storage: given }) })] });

    it('is filled once by the deployment, and read by each tenant beside its own items', async () => {
      const grounding = setUp();
      await keep(grounding, 'The spare key hangs aft', {});
      await keep(grounding, 'The anchor weighs forty kilos', { principal: localPrincipal() });
      await keep(grounding, 'Our key is red', { principal: person('acme') });
      expect((await found(grounding, person('acme'))).toSorted()).toEqual([
        'Our key is red',
        'The anchor weighs forty kilos',
        'The spare key hangs aft',
      ]);
      expect((await found(grounding, person('other'))).toSorted()).toEqual([
        'The anchor weighs forty kilos',
        'The spare key hangs aft',
      ]);
    });

    it("finds a tenant's own item in place of the one of all with its id", async () => {
      const grounding = setUp();
      await keep(grounding, 'The key hangs aft', {}, 'key');
      await keep(grounding, 'The key is in the office', { principal: person('acme') }, 'key');
      expect(await found(grounding, person('acme'), 'key')).toEqual(['The key is in the office']);
      expect(await found(grounding, person('other'), 'key')).toEqual(['The key hangs aft']);
    });

    it("gives no more hits than asked, of the tenant's and of all", async () => {
      const grounding = setUp();
      for (let at = 0; at < 6; at++) {
        await keep(grounding, `The key ${at}`, at % 2 ? {} : { principal: person('acme') });
      }
      const question = { dataSourceId: 'handbook', query: 'key', topK: 4 };
      const { hits, sources } = await grounding.retrieve(question, { principal: person('acme') });
      expect(hits).toHaveLength(4);
      expect(new Set(hits.map(({ id }) => id)).size).toBe(4);
      const { version } = sources[0]!;
      await keep(grounding, 'The key 7', {});
      const after = await grounding.retrieve(question, { principal: person('acme') });
      expect(after.sources[0]?.version).not.toBe(version);
    });

    it('lets no tenant write or remove what is of all', async () => {
      const grounding = setUp();
      await keep(grounding, 'The key hangs aft', {}, 'key');
      const principal = person('acme');
      const refused = { code: 'forbidden', details: { reason: 'shared_items' } };
      await expect(keep(grounding, 'Mine', { principal, shared: true })).rejects.toMatchObject(refused);
      const everything = { dataSourceId: 'handbook', ids: ['key'] };
      await expect(grounding.forget(everything, { principal, shared: true })).rejects.toMatchObject(refused);
      expect(await grounding.forget(everything, { principal })).toEqual({ forgotten: 0 });
      expect(await found(grounding, person('other'), 'key')).toEqual(['The key hangs aft']);
      expect(await grounding.forget(everything)).toEqual({ forgotten: 1 });
    });

    it('keeps what a caller of the deployment keeps of its own apart, on request', async () => {
      const grounding = setUp();
      await keep(grounding, 'My key', { principal: localPrincipal(), shared: false });
      expect(await found(grounding, person('acme'))).toEqual([]);
      expect(await found(grounding, localPrincipal())).toEqual(['My key']);
    });
  },
);

describe('files of a shared source', () => {
  it('are ingested and removed for all tenants, apart from those of a tenant with the same name', async () => {
    const storage = memoryStorage();
    const grounding = createGrounding({ sources: [textSource({ id: 'handbook', storage, shared: true })] });
    const options = { dataSourceId: 'handbook', files: [file], storage };
    expect((await ingest(grounding, options)).written).toBe(1);
    expect((await ingest(grounding, options)).files[0]?.state).toBe('unchanged');
    expect((await ingest(grounding, options, { principal: person('acme') })).written).toBe(1);
    expect(
      await forgetFile(grounding, { dataSourceId: 'handbook', storage, name: file.name }, {
        principal: person('acme'),
      }),
    ).toBe(1);
    expect(await found(grounding, person('acme'))).toEqual(['The spare key hangs aft']);
  });

  it('are refused for all where the source is not shared', async () => {
    const grounding = createGrounding({ sources: [textSource({ id: 'handbook' })] });
    await expect(keep(grounding, 'x', { shared: true })).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { reason: 'source_not_shared' },
    });
  });
});

describe.each<[string, Storage | undefined]>([['a storage', memoryStorage()], ['memory', undefined]])(
  'a source in %s that others have filled',
  (_, kept) => {
    function setUp() {
      const errors: PinnaceError[] = [];
      const storage = kept && memoryStorage();
      const source = vectorSource({ id: 'handbook', ...(storage && { storage }) });
      const onError = (error: unknown) => void (error instanceof PinnaceError && errors.push(error));
      return { grounding: createGrounding({ sources: [source], onError }), errors };
    }
    const ask = async (grounding: Grounding, principal: Principal) =>
      (await grounding.retrieve({ dataSourceId: 'handbook', embedding: [1, 0] }, { principal })).sources[0];
    const fill = (grounding: Grounding, principal: Principal) =>
      grounding.remember({ dataSourceId: 'handbook', items: [{ text: 'Secret of acme', embedding: [1, 0] }] }, {
        principal,
      });

    it('says that there is nothing of this tenant, and tells operators once', async () => {
      const { grounding, errors } = setUp();
      expect((await ask(grounding, person('shop')))?.reason).toBeUndefined();
      const { ids } = await fill(grounding, person('acme'));
      const answer = await ask(grounding, person('shop'));
      expect(answer).toMatchObject({ status: 'ok', candidates: 0, reason: 'no_items_of_tenant' });
      expect(JSON.stringify(answer)).not.toContain('acme');
      await ask(grounding, person('shop', 'bo'));
      expect(errors.map(({ details }) => details)).toEqual([
        { reason: 'no_items_of_tenant', dataSourceId: 'handbook' },
      ]);
      expect(errors[0]?.message).toContain('none of "shop"');
      expect(errors[0]?.message).not.toContain('acme');
      expect((await ask(grounding, person('acme')))?.reason).toBeUndefined();
      await grounding.forget({ dataSourceId: 'handbook', ids: [...ids] }, { principal: person('acme') });
      expect((await ask(grounding, person('shop')))?.reason).toBeUndefined();
    });

    it('says nothing of other persons where items belong to persons', async () => {
      const { errors } = setUp();
      const source = perSubject(
        textSource({ id: 'handbook', shared: true, ...(kept && { storage: memoryStorage() }) }),
      );
      const onError = (error: unknown) => void (error instanceof PinnaceError && errors.push(error));
      const grounding = createGrounding({ sources: [source], onError });
      await keep(grounding, 'The key of Ada', { principal: person('acme', 'ada') });
      await keep(grounding, 'The key of the operator', { principal: localPrincipal() });
      expect(await found(grounding, person('acme', 'bo'))).toEqual([]);
      const { sources } = await grounding.retrieve({ dataSourceId: 'handbook', query: 'key' }, {
        principal: person('acme', 'bo'),
      });
      expect(sources[0]?.reason).toBeUndefined();
      expect(errors).toEqual([]);
      await expect(keep(grounding, 'For all', { shared: true })).rejects.toMatchObject({ code: 'invalid_argument' });
    });
  },
);
