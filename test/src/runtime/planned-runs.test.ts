import { describe, expect, it, vi } from 'vitest';
import { createHandler } from '../../../adapters/transport/http.ts';
import { developmentAuthenticator } from '../../../adapters/transport/development-authenticator.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import {
  type AgentInput,
  type Authorize,
  createPrincipal,
  localPrincipal,
  type Storage,
  type UIMessageChunk,
} from '../../../src/index.ts';
import { callsTools, says, scriptedModel, stallingStream } from '../../fixtures/model.ts';
import { lastData, readAll, runRequest, testRuntime, textOf, userMessage } from '../../fixtures/runtime.ts';

const me = localPrincipal();
type Script = ReturnType<typeof says>;

/** A runtime whose model says what the plot makes of its prompt; nothing: it never answers. */
function runtimeWith(
  plot: (prompt: string) => Script | undefined,
  { storage = memoryStorage(), ...options }: {
    readonly storage?: Storage;
    readonly authorize?: Authorize;
    readonly agent?: Partial<AgentInput>;
  } = {},
) {
  const { model } = scriptedModel((given) => {
    const script = plot(JSON.stringify(given.prompt));
    return script
      ? new ReadableStream({
        start(controller) {
          for (const part of script) controller.enqueue(part);
          controller.close();
        },
      })
      : stallingStream([]);
  });
  return testRuntime({ model, storage, ...options });
}

const planned = (text: string, planner: Record<string, unknown> = {}) =>
  runRequest({ chat: { id: 'chat-1', messages: [userMessage(text)] }, planner });

const divides = (prompt: string): Script => {
  if (prompt.includes('You are sub-agent')) return says('Sound');
  if (prompt.includes('The result of sub-agent')) return says('The ship is sound');
  return callsTools({ tool: 'create', input: { goal: 'The bow' }, id: 'a' }, {
    tool: 'create',
    input: { goal: 'The stern' },
    id: 'b',
  });
};
const asks = (prompt: string): Script =>
  prompt.includes('starboard')
    ? says('To starboard')
    : callsTools({ tool: 'ask_human', input: { question: 'Which side?' } });

describe('a run that plans', () => {
  it('is refused for a message with a file: plans read only text', async () => {
    const { model, calls } = scriptedModel(says('Sound'));
    const url = `data:text/plain;base64,${btoa('a note')}`;
    const parts = [{ type: 'text' as const, text: 'Read it' }, { type: 'file' as const, mediaType: 'text/plain', url }];
    const request = runRequest({ chat: { id: 'chat-1', messages: [{ ...userMessage(''), parts }] }, planner: {} });
    await expect(testRuntime({ model }).run(request, me)).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { reason: 'plan_attachment' },
    });
    expect(calls).toEqual([]);
  });

  it('calls the permission hook before an agent is created, with the principal that started the plan', async () => {
    const asked: unknown[] = [];
    const authorize: Authorize = (action, { subject, tenant }, resource, { agentId }) => {
      asked.push([action, subject, tenant, resource, agentId]);
      return action === 'planner.create' && agentId !== undefined
        ? { decision: 'deny', reason: 'nobody may' }
        : { decision: 'allow' };
    };
    const runtime = runtimeWith((prompt) => prompt.includes('nobody may') ? says('Alone') : divides(prompt), {
      authorize,
    });
    const chunks = await readAll(await runtime.run(planned('Is it sound?'), me));
    expect(textOf(chunks)).toBe('Alone');
    expect(lastData(chunks, 'data-plan')['tasks']).toHaveLength(1);
    const [first, ...others] = ['helper', 'helper'].map((by) => [
      'planner.create',
      'local',
      'local',
      { type: 'agent', id: 'helper' },
      by,
    ]);
    expect(asked).toEqual([[...first!.slice(0, -1), undefined], first, ...others]);
  });

  it.each(
    [
      ['goes on when its run is cancelled and the hook refuses that', 'cancelled', 'running', me.scopes],
      ['ends with its session, whatever the caller may do', 'session_revoked', 'cancelled', ['run:create', 'run:read']],
    ] as const,
  )('leaves a plan that %s', async (_, reason, state, scopes) => {
    const runtime = runtimeWith(() => undefined, {
      authorize: (action) => action === 'plan.cancel' ? { decision: 'deny', reason: 'no' } : { decision: 'allow' },
    });
    const stop = new AbortController();
    const owner = createPrincipal({ ...me, scopes });
    const { runId, ended } = await runtime.start(planned('Is it sound?'), owner, { signals: [stop.signal] });
    const { planId = '' } = await runtime.runs.status(me, runId);
    stop.abort(reason);
    await ended;
    await vi.waitFor(async () => expect(await runtime.planner.view(planId, me)).toMatchObject({ state }));
    await runtime.close();
  });

  it('is one run and one plan for requests that come at once with the same key', async () => {
    const storage = memoryStorage();
    const runtime = runtimeWith(divides, { storage });
    const ask = async () => await readAll(await runtime.run(planned('Is it sound?'), me, { idempotencyKey: 'key-1' }));
    const [one, two] = await Promise.all([ask(), ask()]);
    expect(two).toEqual(one);
    expect(await storage.list({ prefix: ['plan-key'], limit: 10 })).toHaveLength(1);
  });

  it('ends its plan when it is stopped, and leaves it to itself when only its reader goes', async () => {
    const runtime = runtimeWith(() => undefined);
    const stop = new AbortController();
    const stream = await runtime.run(planned('Wait'), me, { signal: stop.signal });
    const planId = await firstPlan(stream, () => stop.abort());
    expect(await runtime.planner.outcome(planId, me)).toMatchObject({ state: 'cancelled' });

    const left = await runtime.run(planned('Wait'), me);
    const reader = left.getReader();
    const kept = await planOf(reader);
    await reader.cancel();
    expect(await runtime.planner.view(kept, me)).toMatchObject({ state: 'running' });
    await runtime.planner.cancel(kept, me);
  });

  it('is answered over HTTP', async () => {
    const runtime = runtimeWith(asks, { agent: { plans: true } });
    const handler = createHandler(runtime, { authenticator: developmentAuthenticator({ token: 'x'.repeat(32) }) });
    const post = (path: string, body: unknown) =>
      handler(
        new Request(`http://127.0.0.1${path}`, {
          method: 'POST',
          headers: {
            'authorization': `Bearer ${'x'.repeat(32)}`,
            'content-type': 'application/json',
            'idempotency-key': `"${crypto.randomUUID()}"`,
          },
          body: JSON.stringify(body),
        }),
      );
    const answer = await post('/v1/runs', planned('Turn', { allowHumanIntervention: true }));
    expect(answer.status).toBe(200);
    const text = await answer.text();
    expect(text).toContain('"state":"suspended"');
    const askId = /"ask":"([^"]+)"/.exec(text)?.[1];
    const replies = `/v1/runs/${answer.headers.get('x-run-id')}/replies`;
    expect((await post(replies, { askId, answer: 5 })).status).toBe(400);
    expect((await post(replies, { askId, answer: 'starboard' })).status).toBe(204);
    const planId = /"planId":"([^"]+)"/.exec(text)?.[1];
    await vi.waitFor(async () => {
      expect(await (await post('/v1/runs', planned('Turn', { planId }))).text()).toContain('To starboard');
    }, 10_000);
  });
});

async function planOf(reader: ReadableStreamDefaultReader<UIMessageChunk>): Promise<string> {
  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw new Error('The stream ended without a plan');
    if (value.type === 'data-plan') return String(value.id);
  }
}

async function firstPlan(stream: ReadableStream<UIMessageChunk>, then: () => void): Promise<string> {
  const reader = stream.getReader();
  const planId = await planOf(reader);
  then();
  for (let next = await reader.read(); !next.done; next = await reader.read());
  return planId;
}
