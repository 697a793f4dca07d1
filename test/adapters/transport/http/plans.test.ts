import { describe, expect, it, vi } from 'vitest';
import { memorySink } from '../../../../adapters/sinks/memory.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { createAudit, createPlanner, createPrincipal, localPrincipal } from '../../../../src/index.ts';
import type { RunAgent } from '../../../../src/planner/index.ts';
import { eventProblems } from '../../../../src/simulation/invariants.ts';
import { says, scriptedModel, stallingStream } from '../../../fixtures/model.ts';
import { next } from '../../../fixtures/plan.ts';
import { testRuntime } from '../../../fixtures/runtime.ts';
import { signedEndpoint } from '../../../fixtures/signed-endpoint.ts';

const owner = createPrincipal({ ...localPrincipal(), tenant: 't1', subject: 's1' });

/** Works on three parts one after the other; each takes until it is let go. */
function slowAgent(): { readonly runAgent: RunAgent; readonly began: string[]; readonly letGo: () => void } {
  const began: string[] = [];
  let gate = Promise.withResolvers<void>();
  return {
    began,
    letGo: () => {
      gate.resolve();
      gate = Promise.withResolvers();
    },
    runAgent: async ({ address, step }) => {
      if (address === '1' && step === 1) {
        return next(...['a', 'b', 'c'].map((key) => ({ type: 'create' as const, key, goal: key })));
      }
      if (address === '1') return { type: 'done', result: 'all done' };
      began.push(address);
      await gate.promise;
      return { type: 'done', result: address };
    },
  };
}

/** An endpoint with a plan of the session `s1` of the tenant `t1`. */
async function endpoint() {
  const agent = slowAgent();
  const storage = memoryStorage();
  const planner = createPlanner({ storage, runAgent: agent.runAgent });
  const signed = await signedEndpoint(testRuntime({ model: scriptedModel(says('Hi')).model, storage }), { planner });
  const { planId } = await planner.start({ goal: 'Three parts', maxParallelism: 1 }, owner);
  await vi.waitFor(() => expect(agent.began).toEqual(['1-1']));
  const plansOf = async (session?: Parameters<typeof signed.client>[0]) => (await signed.client(session)).plans;
  return { signed, agent, plansOf, planner, planId };
}

describe('plans over HTTP', () => {
  it('cancels one agent of a plan, or the whole, once', async () => {
    const { plansOf, planner, planId } = await endpoint();
    const plans = await plansOf();
    await plans.cancel(planId, { address: '1-3', reason: 'not needed' });
    await vi.waitFor(async () => expect(await plans.view(planId)).toMatchObject({ counts: { cancelled: 1 } }));
    await plans.cancel(planId, { reason: 'enough' });
    expect(await planner.outcome(planId, owner)).toEqual({ planId, state: 'cancelled', reason: 'enough' });
    await plans.cancel(planId);
    await plans.pause(planId);
    expect(await plans.view(planId)).toMatchObject({ state: 'cancelled', paused: false });
  });

  it('knows no plan of another tenant or of another subject', async () => {
    const { plansOf, planId } = await endpoint();
    for (const session of [{ tenant: 't2' }, { sub: 's2' }, { tenant: 't2', sub: 's2' }]) {
      const plans = await plansOf(session);
      const refused = { code: 'not_found', details: { reason: 'plan_not_found' } };
      for (const how of ['view', 'pause', 'resume', 'cancel'] as const) {
        await expect(plans[how](planId)).rejects.toMatchObject(refused);
      }
    }
    const plans = await plansOf();
    await expect(plans.view('plan_nowhere')).rejects.toMatchObject({ code: 'not_found' });
    expect(await plans.view(planId)).toMatchObject({ state: 'running', paused: false });
  });

  it('needs the scope "run:read" to read, and "run:cancel" to change anything', async () => {
    const { plansOf, planId } = await endpoint();
    const reader = await plansOf({ scopes: ['run:read'] });
    const canceller = await plansOf({ scopes: ['run:cancel'] });
    expect(await reader.view(planId)).toMatchObject({ planId });
    for (const how of ['pause', 'resume', 'cancel'] as const) {
      await expect(reader[how](planId)).rejects.toMatchObject({ code: 'forbidden' });
    }
    await expect(canceller.view(planId)).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('records who pauses, resumes or cancels it in the audit, and in the trace of the plan', async () => {
    const audit = createAudit({ storage: memoryStorage() });
    const { sink, events } = memorySink();
    const model = scriptedModel(() => stallingStream([])).model;
    const runtime = testRuntime({ model, audit, sinks: [sink] });
    const signed = await signedEndpoint(runtime, { planner: runtime.planner });
    const { planId } = await runtime.planner.start({ goal: 'g', agentId: 'helper' }, owner);
    const { plans } = await signed.client();
    await plans.pause(planId);
    await plans.resume(planId);
    await plans.cancel(planId, { reason: 'sk-SECRET' });
    await runtime.planner.outcome(planId, owner);
    await plans.cancel(planId);
    const entries = (await audit.log('t1').list()).items.map(({ event }) => event);
    expect(entries.map(({ action, status }) => `${action} ${status}`)).toEqual(
      ['pause', 'resume', 'cancel'].flatMap((how) => [`plan.${how} pending`, `plan.${how} ok`]),
    );
    const facts = { actor: { type: 'user', id: 's1' }, target: { type: 'plan', id: planId } };
    const [{ traceId } = { traceId: '' }] = events;
    for (const entry of entries) expect(entry).toMatchObject({ ...facts, traceId });
    expect(JSON.stringify(entries)).not.toContain('SECRET');
    const told = events.filter(({ action }) => /^plan\.(pause|resume|cancel)$/.test(action));
    expect(told.map(({ action, status }) => `${action} ${status}`)).toEqual(
      ['plan.pause ok', 'plan.resume ok', 'plan.cancel ok'],
    );
    expect(eventProblems(events)).toEqual([]);
  });

  it('stay as they are when the audit cannot be written', async () => {
    const audit = createAudit({
      storage: { ...memoryStorage(), commit: () => Promise.reject(new Error('disk full')) },
    });
    const runtime = testRuntime({ model: scriptedModel(() => stallingStream([])).model, audit });
    const signed = await signedEndpoint(runtime, { planner: runtime.planner });
    const { planId } = await runtime.planner.start({ goal: 'g', agentId: 'helper' }, owner);
    const { plans } = await signed.client();
    for (const how of ['pause', 'resume', 'cancel'] as const) {
      await expect(runtime.planner[how](planId, owner)).rejects.toMatchObject({
        code: 'unavailable',
        details: { reason: 'audit_unavailable' },
      });
    }
    expect(await plans.view(planId)).toMatchObject({ state: 'running', paused: false });
    await runtime.close();
  });
});
