import { describe, expect, it } from 'vitest';
import { memorySecrets } from '../../../../adapters/secrets/memory.ts';
import { staticCatalog } from '../../../../adapters/catalog/static.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import {
  createAudit,
  createPrincipal,
  createRegistry,
  createRuntime,
  localPrincipal,
  type ObservedEvent,
  type Principal,
  type Scope,
} from '../../../../src/index.ts';
import { forked, forkRuntime, forkTools, ran, runIdOf } from '../../../fixtures/forks/forks.ts';
import { callsTools, says, scriptedModel } from '../../../fixtures/model.ts';
import { readAll, runRequest, userMessage } from '../../../fixtures/runtime.ts';

const principal = localPrincipal();
const look = callsTools({ tool: 'look', input: {} });

const person = (tenant: string, ...scopes: Scope[]) =>
  createPrincipal({ via: 'http', tenant, subject: 'local', agents: '*', scopes });

const ofDeployment = (...scopes: Scope[]) => createPrincipal({ ...person('local', ...scopes), deployment: true });

describe('refusals of forks', () => {
  it('refuses a run whose inputs were not recorded, and one that follows a plan', async () => {
    const storage = memoryStorage();
    const { runtime } = forkRuntime({ model: scriptedModel(look, says('Done')).model, storage, keep: 'stream' });
    const { runId } = await ran(runtime);
    await expect(runtime.fork(runId, { atStep: 1 }, principal)).rejects.toMatchObject({
      code: 'not_found',
      details: { reason: 'inputs_not_kept' },
    });
    const planned = forkRuntime({ model: scriptedModel(says('Done')).model });
    const plan = await ran(planned.runtime, runRequest({ planner: {} }));
    await expect(planned.runtime.fork(plan.runId, { atStep: 1 }, principal)).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { reason: 'fork_of_plan' },
    });
  });

  it('refuses steps that the run has not made, and what is no request', async () => {
    const { runtime } = forkRuntime({ model: scriptedModel(look, says('Done')).model });
    const { runId } = await ran(runtime);
    await expect(runtime.fork(runId, { atStep: 4 }, principal)).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { reason: 'no_such_step', steps: 2 },
    });
    const wrong = [
      { atStep: 0 },
      { atStep: 1.5 },
      { atStep: 1, effects: 'wet' },
      { atStep: 1, more: 1 },
      {
        atStep: 1,
        changes: { message: { ...userMessage('x'), role: 'system' } },
      },
      { atStep: 1, changes: { toolOutputs: { a: 'x'.repeat(200_000) } } },
      { atStep: 1, chatId: 'chat-1' },
    ];
    for (const options of wrong) {
      await expect(runtime.fork(runId, options as never, principal)).rejects.toMatchObject({
        code: 'invalid_argument',
      });
    }
    expect((await runtime.forks(runId, principal)).items).toEqual([]);
  });

  it('refuses to go on behind a call that waits for a person, and forks before it', async () => {
    const { runtime } = forkRuntime({
      model: scriptedModel(look, callsTools({ tool: 'act', input: {}, id: 'a' }), says('Done')).model,
      authorize: (action, _, { id }) =>
        action === 'tool.call' && id === 'act' ? { decision: 'ask', reason: 'Sure?' } : { decision: 'allow' },
    });
    const { runId } = await ran(runtime);
    await expect(runtime.fork(runId, { atStep: 3 }, principal)).rejects.toMatchObject({
      code: 'conflict',
      details: { reason: 'approval_open' },
    });
    await forked(runtime, runId, { atStep: 2 });
  });

  it('finds no run of another tenant, neither to fork nor to list', async () => {
    const { runtime } = forkRuntime({ model: scriptedModel(says('Done')).model });
    const { runId } = await ran(runtime);
    const stranger = person('other', 'run:read', 'run:create', 'registry:write');
    for (const attempt of [runtime.fork(runId, { atStep: 1 }, stranger), runtime.forks(runId, stranger)]) {
      await expect(attempt).rejects.toMatchObject({ code: 'not_found' });
    }
  });

  it('needs the scopes to read and to run, and to change the agent that of the registry', async () => {
    const { runtime } = forkRuntime({ model: scriptedModel(says('Done')).model });
    const { runId } = await ran(runtime);
    const fork = (changes: object, ...scopes: Scope[]) =>
      runtime.fork(runId, { atStep: 1, changes }, ofDeployment(...scopes));
    await expect(fork({}, 'run:create')).rejects.toMatchObject({ code: 'forbidden' });
    await expect(fork({}, 'run:read')).rejects.toMatchObject({ code: 'forbidden' });
    for (
      const changes of [{ instructions: 'x' }, { model: { providerId: 'default' } }, {
        modelSettings: { temperature: 1 },
      }]
    ) {
      await expect(fork(changes, 'run:read', 'run:create')).rejects.toMatchObject({ code: 'forbidden' });
      await readAll(await fork(changes, 'run:read', 'run:create', 'registry:write'));
    }
    await readAll(await fork({ message: userMessage('Other') }, 'run:read', 'run:create'));
  });

  it('refuses other instructions and models for an agent that the deployment shares with the tenant', async () => {
    const { runtime } = forkRuntime({ model: scriptedModel(says('Done')).model });
    const { runId } = await ran(runtime);
    const author = person('local', 'run:read', 'run:create', 'registry:write');
    for (const changes of [{ instructions: 'x' }, { model: { providerId: 'default' } }, { modelSettings: {} }]) {
      await expect(runtime.fork(runId, { atStep: 1, changes }, author)).rejects.toMatchObject({
        code: 'forbidden',
        details: { reason: 'shared_record' },
      });
    }
    await readAll(await runtime.fork(runId, { atStep: 1, changes: { message: userMessage('Other') } }, author));
  });

  it('refuses a run with settings that its caller may not set today', async () => {
    const storage = memoryStorage();
    const catalog = createRegistry({ storage: memoryStorage() });
    await catalog.put('provider', { id: 'default', kind: 'custom' });
    const allow = (callerSettings: object) =>
      catalog.put('agent', { id: 'helper', name: 'Helper', providerId: 'default', callerSettings });
    await allow({ instructions: true });
    const script = scriptedModel(says('Done'));
    const { runtime } = forkRuntime({ model: script.model, storage, catalog });
    const caller = person('local', 'run:read', 'run:create');
    const settings = { instructions: 'Tell the code.' };
    const started = await readAll(await runtime.run(runRequest({ settings }), caller));
    const runId = runIdOf(started);
    const fork = (who: Principal) =>
      runtime.fork(runId, { atStep: 1, changes: { message: userMessage('Other') } }, who);
    await readAll(await fork(caller));
    await allow({});
    await runtime.invalidate(['agent:helper']);
    await expect(fork(caller)).rejects.toMatchObject({
      code: 'forbidden',
      details: { reason: 'settings_not_allowed', settings: ['instructions'] },
    });
    expect(script.calls).toHaveLength(2);
    await readAll(await fork(principal));
  });

  it('asks the permission hook with the names of what is changed, and is audited', async () => {
    const asked: unknown[] = [];
    const emitted: ObservedEvent[] = [];
    const storage = memoryStorage();
    let decision: 'allow' | 'deny' = 'deny';
    const { runtime } = forkRuntime({
      model: scriptedModel(says('Done')).model,
      sinks: [(event) => void emitted.push(event)],
      audit: createAudit({ storage }),
      authorize: (action, _, resource, context) => {
        if (action !== 'run.fork') return { decision: 'allow' };
        asked.push({ resource, ...context });
        return { decision, reason: 'Not now' };
      },
    });
    const { runId } = await ran(runtime);
    const changes = { instructions: 'hidden text' };
    await expect(runtime.fork(runId, { atStep: 1, changes }, principal)).rejects.toMatchObject({ code: 'forbidden' });
    decision = 'allow';
    await forked(runtime, runId, { atStep: 1, changes });
    const call = {
      resource: { type: 'run', id: runId, subject: 'local' },
      agentId: 'helper',
      input: { atStep: 1, changed: ['instructions'], effects: 'dry' },
    };
    expect(asked).toEqual([call, call]);
    await runtime.close();
    const events = emitted.filter(({ action }) => action === 'run.fork').map(({ status }) => status);
    expect(events).toEqual(['denied', 'ok']);
    const audited = JSON.stringify(await storage.list({ prefix: [], limit: 1000 }));
    expect(audited).toContain('run.fork');
    expect(audited).not.toContain('hidden text');
  });

  it('expires with its parent', async () => {
    let now = Date.now();
    const { runtime } = forkRuntime({
      model: scriptedModel(says('Done')).model,
      now: () => now,
      limits: { retentionMs: 60_000 },
    });
    const { runId } = await ran(runtime);
    now += 50_000;
    const fork = await forked(runtime, runId, { atStep: 1 });
    expect(await readAll(await runtime.resume(fork.runId, 0, { principal }))).toEqual(fork.chunks);
    now += 20_000;
    for (const id of [runId, fork.runId]) {
      await expect(runtime.resume(id, 0, { principal })).rejects.toMatchObject({ code: 'run_expired' });
      await expect(runtime.fork(id, { atStep: 1 }, principal)).rejects.toMatchObject({ code: 'run_expired' });
    }
  });

  it('says that it has expired where what it shares is gone while it is read', async () => {
    const storage = memoryStorage();
    const { runtime } = forkRuntime({ model: scriptedModel(look, says('Done')).model, storage });
    const { runId } = await ran(runtime);
    const fork = await forked(runtime, runId, { atStep: 2 });
    const reader = (await runtime.resume(fork.runId, 0, { principal })).getReader();
    await reader.read();
    for (const { key } of await storage.list({ prefix: ['run', runId, 'j'], limit: 100 })) {
      await storage.commit([{ key }]);
    }
    const reading = async () => {
      while (!(await reader.read()).done);
    };
    await expect(reading()).rejects.toMatchObject({ code: 'run_expired' });
  });

  it('contains no secret of the run that is forked', async () => {
    const canary = 'canary-secret-91ab34ef';
    const storage = memoryStorage();
    const { tools } = forkTools();
    const { model, calls } = scriptedModel(
      callsTools({ tool: 'look', input: { at: canary } }),
      says(`It is ${canary}`),
    );
    const runtime = createRuntime({
      catalog: staticCatalog({
        agents: [{ id: 'helper', name: 'Helper', providerId: 'default', entryTools: ['*'] }],
        providers: [{ id: 'default', kind: 'custom', baseUrl: 'https://models.example', secret: { id: 'KEY' } }],
      }),
      models: { model: () => model },
      secrets: memorySecrets({ KEY: { value: canary, origins: ['https://models.example'] } }),
      storage,
      tools,
      keep: 'inputs',
    });
    const { runId } = await ran(runtime);
    const fork = await forked(runtime, runId, { atStep: 2 });
    expect(JSON.stringify(fork.chunks)).not.toContain(canary);
    expect(fork.chunks.find(({ type }) => type === 'data-fork')).toMatchObject({ data: { exact: false } });
    expect(JSON.stringify(calls.at(-1)?.prompt)).not.toContain(canary);
    expect(JSON.stringify(await storage.list({ prefix: ['run'], limit: 1000 }))).not.toContain(canary);
  });
});
