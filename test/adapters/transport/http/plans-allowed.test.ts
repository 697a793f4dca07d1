import { describe, expect, it, vi } from 'vitest';
import { createHandler, type HandlerOptions } from '../../../../adapters/transport/http.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { type AgentInput, createPrincipal, type CreateRuntimeOptions, localPrincipal } from '../../../../src/index.ts';
import { says, scriptedModel, stallingStream, streamOf } from '../../../fixtures/model.ts';
import { readAll, runRequest, testRuntime, textOf } from '../../../fixtures/runtime.ts';

const caller = (subject: string) =>
  createPrincipal({ via: 'http', tenant: 't1', subject, agents: '*', scopes: ['run:create', 'run:read'] });

interface Given extends Partial<Pick<CreateRuntimeOptions, 'plans' | 'limits'>> {
  readonly agent?: Partial<AgentInput>;
  readonly quotas?: HandlerOptions['quotas'];
  /** Whether the model never answers. */
  readonly isStalling?: boolean;
}

/** An endpoint whose callers name themselves in a header. */
function endpoint({ agent, quotas, isStalling = false, ...options }: Given) {
  const { model, calls } = scriptedModel(() => isStalling ? stallingStream([]) : streamOf(says('Done')));
  const runtime = testRuntime({ model, storage: memoryStorage(), ...(agent && { agent }), ...options });
  const handle = createHandler(runtime, {
    authenticator: { authenticate: (request) => Promise.resolve(caller(request.headers.get('x-subject') ?? 'ada')) },
    ...(quotas && { quotas }),
  });
  const post = (planner?: object, { subject = 'ada', signal }: { subject?: string; signal?: AbortSignal } = {}) =>
    handle(
      new Request('https://worker.example/v1/runs', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'idempotency-key': `"${crypto.randomUUID()}"`,
          'x-subject': subject,
        },
        body: JSON.stringify(runRequest(planner ? { planner: { ...planner } } : {})),
        ...(signal && { signal }),
      }),
    );
  return { runtime, post, calls: () => calls.length };
}

const tasks = (count: number) => ({
  plan: { tasks: Array.from({ length: count }, (_, at) => ({ key: `t${at}`, goal: 'g', agentId: 'helper' })) },
});

async function planOf(response: Response): Promise<string> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = '';;) {
    const { value = '', done } = await reader.read();
    text += value;
    const planId = /"planId":"(plan_\w+)"/.exec(text)?.[1];
    if (planId === undefined && !done) continue;
    await reader.cancel();
    return planId ?? '';
  }
}

describe('a plan over HTTP', () => {
  it.each([['a goal', {}], ['19,000 tasks', tasks(19_000)], ['a plan to follow', { planId: 'plan_x' }]])(
    'is refused for an agent that does not allow plans: %s',
    async (_, planner) => {
      for (const agent of [{}, { plans: false }]) {
        const { post, calls, runtime } = endpoint({ agent, plans: { agents: 30_000 } });
        const refused = await post(planner);
        expect(refused.status).toBe(403);
        expect(await refused.json()).toMatchObject({ code: 'forbidden', details: { reason: 'plans_not_allowed' } });
        expect(calls()).toBe(0);
        await runtime.close();
      }
    },
  );

  it('is allowed for the same agent in process', async () => {
    const { runtime } = endpoint({});
    const chunks = await readAll(await runtime.run(runRequest({ planner: {} }), localPrincipal()));
    expect(textOf(chunks)).toContain('Done');
  });

  it.each([200, 3_000])(
    'has at most 200 agents where nothing else is set: %d tasks are refused before the first call',
    async (count) => {
      const { post, calls } = endpoint({ agent: { plans: true } });
      const refused = await post(tasks(count));
      expect(refused.status).toBe(400);
      expect(await refused.text()).toContain('must be at most 199');
      expect(calls()).toBe(0);
    },
  );

  it.each<[name: string, given: Given, most: number]>([
    ['the default of 2,000 steps', { plans: { agents: 20_001 } }, 2_000],
    ['steps of the plans', { plans: { agents: 20_001, steps: 70 } }, 70],
    ['steps of the endpoint', { plans: { agents: 20_001, steps: 100 }, limits: { steps: 9 } }, 9],
    ['steps of the agent', { agent: { limits: { steps: 1, toolCalls: 1 } }, plans: { agents: 20_001 } }, 1],
  ])('stops at %s', async (_, { agent, ...given }, most) => {
    const { post, calls, runtime } = endpoint({ ...given, agent: { plans: true, ...agent } });
    await (await post(tasks(3_000))).text();
    expect(calls()).toBe(most);
    await runtime.close();
  }, 60_000);

  it.each<[name: string, given: Given]>([
    ['the agent', { agent: { limits: { totalMs: 30 } } }],
    ['the endpoint', { limits: { totalMs: 30 } }],
    ['the plans', { plans: { totalMs: 30 } }],
  ])('ends with the time of %s', async (_, { agent, ...given }) => {
    const { post, runtime } = endpoint({ ...given, isStalling: true, agent: { plans: true, ...agent } });
    expect(await (await post({})).text()).toContain('deadline_exceeded');
    await runtime.close();
  });

  it('is canceled when its client has left, and goes on when it was asked to', async () => {
    const left = endpoint({ agent: { plans: true }, isStalling: true, limits: { detachGraceMs: 0 } });
    for (const [planner, state] of [[{}, 'cancelled'], [{ background: true }, 'running']] as const) {
      const planId = await planOf(await left.post(planner));
      await vi.waitFor(() => expect(left.runtime.runs.open).toBe(0));
      const view = async () => await left.runtime.planner.view(planId, caller('ada'));
      await vi.waitFor(async () => expect(await view()).toMatchObject({ state }));
    }
    await left.runtime.close();
  });

  it('refuses a "background" that is neither true nor false', async () => {
    const { post } = endpoint({ agent: { plans: true } });
    const refused = await post({ background: 'yes' });
    expect(await refused.json()).toMatchObject({ code: 'invalid_argument', details: { reason: 'plan_background' } });
  });

  it('counts as a run of its person while it works, after its client has left too', async () => {
    const { post, runtime } = endpoint({
      agent: { plans: true },
      isStalling: true,
      limits: { detachGraceMs: 0 },
      quotas: { runsPerTenant: 2 },
    });
    const planId = await planOf(await post({ background: true }));
    await vi.waitFor(() => expect(runtime.runs.open).toBe(0));
    const refused = await post();
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ code: 'rate_limited', details: { reason: 'subject_quota' } });
    const colleague = await post(undefined, { subject: 'bo' });
    expect(colleague.status).toBe(200);
    await colleague.body?.cancel();
    await runtime.planner.cancel(planId, createPrincipal({ ...caller('ada'), scopes: ['run:cancel'] }));
    await vi.waitFor(async () => {
      const next = await post();
      expect(next.status).toBe(200);
      await next.body?.cancel();
    });
    await runtime.close();
  });
});

describe('the quotas of an endpoint', () => {
  it('leave half of a tenant’s runs to the colleagues of a person, unless that is set otherwise', async () => {
    for (const [quotas, most] of [[undefined, 8], [{ runsPerTenant: 4 }, 2], [{ runsPerSubject: 3 }, 3]] as const) {
      const { post, runtime } = endpoint({ isStalling: true, ...(quotas && { quotas }) });
      const statuses: number[] = [];
      for (let at = 0; at <= most; at++) statuses.push((await post()).status);
      expect(statuses).toEqual([...Array.from({ length: most }, () => 200), 429]);
      expect((await post(undefined, { subject: 'bo' })).status).toBe(200);
      await runtime.close();
    }
  });
});
