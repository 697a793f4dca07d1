import { describe, expect, it, vi } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import type { Activity } from '../../../../demo/control/server-control.ts';
import { createConsoleHost } from '../../../../demo/runs/worker/server-host.ts';
import type { Answer } from '../../../../demo/control/answer.ts';
import { createAudit, createRegistry, createRuntime, type Scope } from '../../../../src/index.ts';
import { says, scriptedModel } from '../../../fixtures/model.ts';
import { readAll, runRequest } from '../../../fixtures/runtime.ts';
import { signedEndpoint } from '../../../fixtures/signed-endpoint.ts';

const all: readonly Scope[] = ['run:create', 'run:read', 'run:cancel', 'registry:read', 'registry:write', 'admin'];

/** The console of an endpoint with a registry and an audit, for a page with these scopes. */
async function consoleFor(scopes: readonly Scope[] = all, deployment = scopes.includes('admin')) {
  const storage = memoryStorage();
  const audit = createAudit({ storage });
  const registry = createRegistry({ storage, audit });
  await registry.providers.register({ id: 'p', kind: 'rehearsal', model: 'rehearsal' });
  await registry.agents.register({ id: 'helper', name: 'Helper', providerId: 'p' });
  const { model } = scriptedModel(says('Hello'));
  const runtime = createRuntime({ catalog: registry, models: { model: () => model }, storage, audit });
  const endpoint = await signedEndpoint(runtime, { registry, planner: runtime.planner });
  const client = await endpoint.client({ scopes, deployment });
  return { control: createConsoleHost(client), client };
}

function valueOf<T>(answer: Answer<T>): T {
  return answer.ok ? answer.value : expect.fail(answer.error.message);
}

function renamed(record: { readonly id: string }, name: string): { readonly id: string } {
  return Object.assign(structuredClone(record), { name });
}

describe('createConsoleHost', () => {
  it('marks shared records as read-only for a tenant, and shows them without their history', async () => {
    const { control } = await consoleFor(all, false);
    const { items: [shared] } = valueOf(await control.list('agent', {}));
    expect(shared).toMatchObject({ id: 'helper', readOnly: true });
    const { record } = valueOf(await control.get('agent', 'helper'));
    expect(record).toMatchObject({ readOnly: true });
    expect(valueOf(await control.history('agent', 'helper')).items).toEqual([]);
    expect(await control.setState('agent', 'helper', 'disabled')).toMatchObject({
      error: { code: 'forbidden', details: { reason: 'shared_record' } },
    });
    valueOf(await control.create('agent', { id: 'mine', name: 'Mine', providerId: 'p', visibility: 'internal' }));
    const mine = valueOf(await control.get('agent', 'mine'));
    expect(mine.record.readOnly, 'its own').toBeUndefined();
    expect(mine.tools, 'of an internal agent').toBeUndefined();
    valueOf(await control.replace('agent', renamed(mine.record, 'Renamed'), 1));
  });

  it('reports runs as they start and end', async () => {
    const { control, client } = await consoleFor();
    const seen: Answer<Activity>[] = [];
    control.watch((activity) => seen.push(activity));
    await vi.waitFor(() => expect(seen).toHaveLength(1));
    await readAll(await client.run(runRequest()));
    await vi.waitFor(() => {
      const latest = seen.at(-1);
      expect(latest?.ok && latest.value.runs).toMatchObject([{ agentId: 'helper', by: 's1', end: 'completed' }]);
    });
    control.leave();
  });

  it('gives the audit, whether it is whole, and the metrics as text', async () => {
    const { control } = await consoleFor();
    const { record } = valueOf(await control.get('agent', 'helper'));
    valueOf(await control.replace('agent', renamed(record, 'Mate'), record.revision));
    expect(valueOf(await control.audit({ target: 'helper' })).items.length).toBeGreaterThan(0);
    expect(valueOf(await control.verify())).toMatchObject({ ok: true });
    expect(valueOf(await control.metrics())).toContain('# TYPE pinnace_');
    expect(valueOf(await control.readiness()).status).toBe('ok');
  });

  it('says that the page may not, where its certificate lacks the scope', async () => {
    const { control } = await consoleFor(['run:create']);
    const forbidden = { ok: false, error: { code: 'forbidden' } };
    const seen: Answer<Activity>[] = [];
    control.watch((activity) => seen.push(activity));
    expect(await control.list('agent', {})).toMatchObject(forbidden);
    expect(await control.audit({})).toMatchObject(forbidden);
    expect(await control.metrics()).toMatchObject(forbidden);
    await vi.waitFor(() => expect(seen).toMatchObject([forbidden]));
  });

  it('keeps to itself what an endpoint does not offer to a page', async () => {
    const { control } = await consoleFor();
    expect(await control.vault()).toMatchObject({ ok: false, error: { code: 'invalid_argument' } });
    expect(await control.plan('plan_none')).toMatchObject({ ok: false, error: { code: 'not_found' } });
  });
});
