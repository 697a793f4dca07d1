import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import type { Authorize, Storage } from '../../../src/index.ts';
import { people, person, stageOf } from '../../fixtures/persons/stage.ts';
import { readAll } from '../../fixtures/runtime.ts';

const { owner: ada } = people;

/** Who decides on the calls of whom. */
const named: Readonly<Record<string, readonly string[]>> = { p1: ['role:finance'], p2: ['subject:p0', 'role:law'] };
const authorize: Authorize = (action, { subject }) => {
  const approvers = named[subject];
  if (action !== 'tool.call') return { decision: 'allow' };
  return { decision: 'ask', reason: 'It deletes', ...(approvers && { approvers }) };
};

describe('the inbox, by chance', () => {
  it('lists what a model of it lists, for everyone, after every step', async () => {
    const stage = stageOf({ authorize });
    const everyone = ['t1', 't2', 't3'].flatMap((tenant) =>
      ['p0', 'p1', 'p2', 'p3', 'p4', 'p5'].map((subject, at) =>
        person(subject, { tenant, roles: at === 4 ? ['finance'] : at === 5 ? ['law', 'finance'] : [] })
      )
    );
    const model: { id: string; tenant: string; owner: string; names: readonly string[] }[] = [];
    const pick = <T>(of: readonly T[]): T | undefined => of[Math.floor(Math.random() * of.length)];
    for (let step = 0; step < 60; step++) {
      const who = pick(everyone)!;
      const { items } = await stage.runtime.inbox.list(who);
      const item = pick(items.filter(({ blocked }) => !blocked));
      if (item && Math.random() < 0.4) {
        await stage.runtime.inbox.decide([{ id: item.id, seen: item.seen, approved: Math.random() < 0.5 }], who);
        model.splice(model.findIndex(({ id }) => id === item.id), 1);
      } else {
        const { approvalId: id } = await stage.ran('Delete n1', who, { id: `c${step}` });
        model.push({ id, tenant: who.tenant, owner: who.subject, names: named[who.subject] ?? [] });
      }
      for (const one of everyone) {
        const mine = [`subject:${one.subject}`, ...(one.roles ?? []).map((role) => `role:${role}`)];
        const expected = model.filter(({ tenant, owner, names }) =>
          tenant === one.tenant && (owner === one.subject || names.some((name) => mine.includes(name)))
        );
        const listed = (await stage.runtime.inbox.list(one)).items.map(({ id }) => id);
        expect(listed.toSorted()).toEqual(expected.map(({ id }) => id).toSorted());
      }
    }
  });

  it.each([0, 1, 2, 3, 4])(
    'makes a decided call once, by the next sweep, when the process dies after %i commits',
    async (kept) => {
      const memory = memoryStorage();
      let left = Infinity;
      const dying: Storage = {
        ...memory,
        commit: (changes) => left-- > 0 ? memory.commit(changes) : new Promise(() => undefined), // it never answers again
      };
      const first = stageOf({ storage: dying, limits: { storageGraceMs: 0 } });
      await first.ran('Delete n1', ada, { store: true });
      const { items: [item] } = await first.runtime.inbox.list(ada);
      left = kept;
      const decision = { id: item!.id, seen: item!.seen, approved: true };
      void first.runtime.inbox.decide([decision], ada);
      for (let turn = 0; turn < 200; turn++) await Promise.resolve();
      await new Promise((resolve) => setImmediate(resolve));
      const second = stageOf({ storage: memory });
      await second.runtime.sweep();
      const isDecided = (await second.runtime.inbox.list(ada)).items.length === 0;
      if (!isDecided) await second.runtime.inbox.decide([decision], ada);
      const { runId = '' } = await second.runtime.chats.get('c1', ada);
      if (runId !== '' && second.deleted.length === 0 && kept < 2) {
        await readAll(await second.runtime.resume(runId, 0, { principal: ada }));
      }
      await second.runtime.sweep();
      expect(first.deleted.length + second.deleted.length).toBeLessThanOrEqual(1);
      if (kept < 2) expect(second.deleted).toEqual(['n1 ada']);
      await second.runtime.close({ drainMs: 1000 });
    },
  );
});
