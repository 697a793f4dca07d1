import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { createSnapshotStore } from '../../../adapters/grounding/snapshot-store.ts';
import { textSource } from '../../../adapters/grounding/text.ts';
import { vectorSource } from '../../../adapters/grounding/vector.ts';
import { createRunStore } from '../../../demo/runs/worker/run-store.ts';
import { createEventBlocks, createEventLog } from '../../../src/events/index.ts';
import { localPrincipal, openTree, type Storage } from '../../../src/index.ts';
import { createBulletin } from '../../../src/log/bulletin.ts';
import { neverAborted } from '../../fixtures/grounding.ts';
import { says, scriptedModel } from '../../fixtures/model.ts';
import { eventsOf, steps, testPlanner } from '../../fixtures/plan.ts';
import { recordedChunks, testRuntime } from '../../fixtures/runtime.ts';
import { expected, sampleEvent, storedBefore } from '../../fixtures/stored-before.ts';

const me = localPrincipal();
const now = () => expected.at;

async function readRun(storage: Storage): Promise<unknown[]> {
  const runtime = testRuntime({ ...scriptedModel(says('unused')), storage, now });
  const chunks = await recordedChunks(runtime, expected.run.runId);
  await runtime.close();
  return chunks;
}

describe('a storage that the version before the common log has written', () => {
  it('has its run, chunk by chunk', async () => {
    expect(await readRun(await storedBefore())).toEqual(expected.run.chunks);
  });

  it('has its plan, with every event, the result and the values beside the journal', async () => {
    const { planner } = testPlanner(steps(), { storage: await storedBefore(), now });
    expect(await planner.outcome(expected.plan.planId, me)).toEqual(expected.plan.outcome);
    expect(await eventsOf(planner, expected.plan.planId)).toEqual(expected.plan.events);
  });

  it('has its audit and its events, which are continued in the same logs', async () => {
    const storage = await storedBefore();
    const audit = createEventLog({ storage, name: 'audit/local' });
    const blocks = createEventBlocks({ storage, name: 'events/local' });
    expect(await audit.verify({ anchor: expected.audit })).toMatchObject({ ok: true, head: expected.audit });
    expect(await blocks.bounds()).toEqual({ first: 1, last: expected.blocks.seq });
    await audit.append([sampleEvent(50)]);
    await blocks.append([sampleEvent(50)]);
    expect(await audit.verify({ anchor: expected.audit })).toMatchObject({ ok: true, checked: 4 });
    expect(await blocks.bounds()).toEqual({ first: 1, last: expected.blocks.seq + 1 });
    const { items } = await blocks.list({ target: 't7' });
    expect(items.map(({ seq, event }) => ({ seq, event }))).toEqual([{ seq: 8, event: sampleEvent(7) }]);
  });

  it('has its tree, from the checkpoint and the changes behind it, and takes another change', async () => {
    const storage = await storedBefore();
    const options = { storage, treeId: 'fixture', now, payloadTypes: { note: v.object({ title: v.string() }) } };
    const tree = await openTree(options);
    expect([...tree.rows()]).toEqual(expected.rows);
    await tree.write([{ kind: 'payload', nodeId: 'b', payloadType: 'note', payload: { title: 'B2' } }]);
    expect((await openTree(options)).get('b')?.payload).toEqual({ title: 'B2' });
  });

  it('has its grounding items and vectors, and takes another item', async () => {
    const storage = await storedBefore();
    const texts = textSource({ id: 'notes', storage, now });
    await texts.remember({ tenant: 'local', items: [{ id: 'date', text: 'About the date' }] }, neverAborted());
    const again = textSource({ id: 'notes', storage, now });
    const hits = await again.retrieve(
      { tenant: 'local', query: 'apple, cherry or date', topK: 9, filters: [] },
      neverAborted(),
    );
    expect(hits.map(({ id }) => id).toSorted()).toEqual(['apple', 'cherry', 'date']);
    const vectors = vectorSource({ id: 'points', storage, now });
    const near = await vectors.retrieve(
      { tenant: 'local', embedding: [0, 1, 0], topK: 1, filters: [] },
      neverAborted(),
    );
    expect(near.map(({ id }) => id)).toEqual(['y']);
  });

  it('has its index snapshot, whose parts are removed when another replaces it', async () => {
    const storage = await storedBefore();
    const snapshots = createSnapshotStore(storage, ['snapshot-fixture']);
    const found = await snapshots.find();
    expect(found?.version).toBe('v.1');
    expect(await found?.read()).toEqual(new Uint8Array(150_000).fill(7));
    await snapshots.write('v.2', new Uint8Array(10));
    expect(await (await snapshots.find())?.read()).toEqual(new Uint8Array(10));
    expect(await storage.list({ prefix: ['snapshot-fixture', 'index-part'], limit: 10 })).toHaveLength(1);
  });

  it("has the inspector's runs", async () => {
    const runs = createRunStore(await storedBefore());
    expect((await runs.heads()).map(({ traceId }) => traceId)).toEqual(['r1']);
    expect(await runs.read('r1')).toMatchObject({ parts: 2, events: [0, 1, 2].map(sampleEvent), tools: { t: 1 } });
  });

  it('has its messages to other instances, which go on behind the last', async () => {
    const bulletin = createBulletin<string>(await storedBefore(), 'fixture');
    await bulletin.publish('three');
    expect(bulletin.position).toBe(3);
  });
});
