import { describe, expect, it } from 'vitest';
import * as v from 'valibot';
import { createHandler } from '../../../adapters/transport/http.ts';
import { memorySink } from '../../../adapters/sinks/memory.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createAudit, createRegistry, defineTool, localPrincipal, type Storage } from '../../../src/index.ts';
import { createPrincipal } from '../../../src/base/principal.ts';
import { eventProblems } from '../../../src/simulation/invariants.ts';
import { virtualTime } from '../../../src/simulation/virtual-time.ts';
import { callsTools, says, scriptedModel, stallingStream } from '../../fixtures/model.ts';
import { lastData, readAll, runRequest, testRuntime } from '../../fixtures/runtime.ts';

const me = localPrincipal();

/** Tools that record their calls. */
function tools(all: { readonly limits?: { readonly timeoutMs: number } } = {}) {
  const done: string[] = [];
  const tool = (id: string, more: object) =>
    defineTool({
      id,
      description: id,
      input: v.object({ text: v.optional(v.string()) }),
      execute: () => {
        done.push(id);
        return 'done';
      },
      ...all,
      ...more,
    });
  return {
    done,
    tools: [
      tool('read', { annotations: { readOnlyHint: true } }),
      tool('write', {}),
      tool('ask', { approval: 'always' }),
    ] as const,
  };
}

/** A storage that stops writing on request. */
function failingStorage() {
  const inner = memoryStorage();
  let away = false;
  const storage: Storage = {
    ...inner,
    commit: (changes) => away ? Promise.reject(new Error('disk full')) : inner.commit(changes),
  };
  return { storage, fail: () => (away = true) };
}

const entriesOf = async (audit: ReturnType<typeof createAudit>, tenant: string | undefined = 'local') =>
  (await audit.log(tenant).list()).items.map(({ event }) => event);

describe('the audit', () => {
  it('has what a tool is about to do before it does it, and how it went after', async () => {
    const audit = createAudit({ storage: memoryStorage() });
    const seen: unknown[] = [];
    const write = defineTool({
      id: 'write',
      description: 'Writes',
      input: v.object({ text: v.string() }),
      async execute() {
        seen.push(...await entriesOf(audit));
        return 'done';
      },
    });
    const { model } = scriptedModel(callsTools({ tool: 'write', input: { text: 'sk-SECRET' }, id: 'c1' }), says('ok'));
    const { sink, events } = memorySink();
    await readAll(await testRuntime({ model, tools: [write], audit, sinks: [sink] }).run(runRequest(), me));
    expect(seen).toMatchObject([{ action: 'tool.call', status: 'pending', target: { type: 'tool', id: 'write' } }]);
    const entries = await entriesOf(audit);
    expect(entries.map(({ action, status }) => `${action} ${status}`)).toEqual(['tool.call pending', 'tool.call ok']);
    expect(eventProblems(entries)).toEqual([]);
    const { traceId, spanId, actor } = events.find(({ action }) => action === 'tool.call')!;
    expect(entries[1]).toMatchObject({ traceId, spanId, actor });
    expect(entries[1]?.payloadSummary).toMatch(
      /^agent=helper subject=local toolCallId=c1 approved=false input=20 digest="?[\da-f]{16}"? keys=text$/,
    );
    expect(JSON.stringify(entries)).not.toContain('SECRET');
    expect(await audit.log('local').verify()).toMatchObject({ ok: true, checked: 2 });
  });

  it('has the end of a call whose time was over while its beginning was still being written', async () => {
    const inner = memoryStorage();
    const free = Promise.withResolvers<void>();
    const storage: Storage = {
      ...inner,
      async commit(changes) {
        await free.promise;
        return await inner.commit(changes);
      },
    };
    const audit = createAudit({ storage });
    const { done, tools: [, write] } = tools({ limits: { timeoutMs: 10 } });
    const { model } = scriptedModel(callsTools({ tool: 'write', input: {} }), says('too slow'));
    const runtime = testRuntime({ model, tools: [write], audit });
    const chunks = await readAll(await runtime.run(runRequest(), me));
    expect(lastData(chunks, 'data-tool-error')).toMatchObject({ code: 'deadline_exceeded' });
    free.resolve();
    await runtime.close();
    expect(done).toEqual([]);
    expect((await entriesOf(audit)).map(({ status }) => status)).toEqual(['pending', 'error']);
  });

  it('has nothing of tools that only read, unless they are denied', async () => {
    const audit = createAudit({ storage: memoryStorage() });
    const { tools: all } = tools();
    const run = async (decision: 'allow' | 'deny') => {
      const { model } = scriptedModel(callsTools({ tool: 'read', input: {} }), says('ok'));
      const authorize = () => decision === 'allow' ? { decision } as const : { decision, reason: 'no' } as const;
      await readAll(await testRuntime({ model, tools: all, audit, authorize }).run(runRequest(), me));
    };
    await run('allow');
    expect(await entriesOf(audit)).toEqual([]);
    await run('deny');
    expect(await entriesOf(audit)).toMatchObject([
      { status: 'denied', error: { code: 'forbidden', details: { reason: 'not_authorized' } } },
    ]);
  });

  it('stops what would act when it cannot be written, and lets what only reads go on', async () => {
    const { storage, fail } = failingStorage();
    const { tools: all, done } = tools();
    const both = callsTools({ tool: 'read', input: {}, id: 'c1' }, { tool: 'write', input: {}, id: 'c2' });
    const { model } = scriptedModel(both, says('ok'));
    const { sink, events } = memorySink();
    const runtime = testRuntime({ model, tools: all, audit: createAudit({ storage }), sinks: [sink] });
    fail();
    const chunks = await readAll(await runtime.run(runRequest(), me));
    expect(done).toEqual(['read']);
    expect(lastData(chunks, 'data-tool-error')).toMatchObject({ tool: 'write', code: 'unavailable', retryable: true });
    expect(JSON.stringify(chunks)).not.toContain('disk full');
    const failed = events.filter(({ error }) => error?.details?.['reason'] === 'audit_unavailable');
    expect(failed.map(({ action, target }) => `${action} ${target.id}`)).toContain('error tool.call');
    expect(failed.map(({ action, target }) => `${action} ${target.id}`)).toContain('tool.call write');
  });

  it('stops decisions, agents without a model, and changes of the registry when it cannot be written', async () => {
    const { storage, fail } = failingStorage();
    const audit = createAudit({ storage });
    const { tools: all, done } = tools();
    const { model } = scriptedModel(callsTools({ tool: 'ask', input: {} }));
    const runtime = testRuntime({ model, tools: all, audit });
    const registry = createRegistry({ storage: memoryStorage(), audit });
    await registry.providers.register({ id: 'main', kind: 'rehearsal' }, { principal: me });
    const { runId, ended } = await runtime.start(runRequest(), me, {});
    await ended;
    const chunks = await readAll(await runtime.run(runRequest({ chat: { ...runRequest().chat, id: 'c2' } }), me));
    const asked = chunks.find((chunk) => chunk.type === 'tool-approval-request');
    const refused = { code: 'unavailable', details: { reason: 'audit_unavailable' } };
    fail();
    const decided = runtime.decide(runId, asked?.approvalId ?? '', { approved: true }, me);
    await expect(decided).rejects.toMatchObject(refused);
    const { tools: given, call } = await runtime.tools('helper', me);
    const write = given.find(({ definition }) => definition.id === 'write')!;
    const facts = { toolCallId: 'c', signal: new AbortController().signal, log: () => undefined };
    expect(await call(write, {}, facts)).toMatchObject({ ok: false, error: refused });
    const agent = { id: 'helper', name: 'Helper', providerId: 'main' };
    await expect(registry.agents.register(agent, { principal: me })).rejects.toMatchObject(refused);
    await expect(registry.agents.get('helper')).rejects.toMatchObject({ code: 'not_found' });
    expect(done).toEqual([]);
    expect(await registry.providers.get('main')).toMatchObject({ id: 'main' });
  });

  it('has decisions of people and changes of the registry, refused ones too', async () => {
    const audit = createAudit({ storage: memoryStorage() });
    const { tools: all } = tools();
    const { model } = scriptedModel(callsTools({ tool: 'ask', input: {} }));
    const runtime = testRuntime({ model, tools: all, audit });
    const { sink, events } = memorySink();
    const registry = createRegistry({
      storage: memoryStorage(),
      audit,
      sinks: [sink],
      authorize: (action) => action === 'registry.disable' ? { decision: 'deny', reason: 'no' } : { decision: 'allow' },
    });
    await registry.providers.register({ id: 'main', kind: 'rehearsal' }, { principal: me });
    await expect(registry.providers.disable('main', { principal: me })).rejects.toMatchObject({ code: 'forbidden' });
    expect(events.at(-1)).toMatchObject({ action: 'registry.disable', status: 'denied' });
    const { runId, ended } = await runtime.start(runRequest(), me, {});
    await ended;
    const log = await readAll(await runtime.run(runRequest({ chat: { ...runRequest().chat, id: 'c2' } }), me));
    const asked = log.find((chunk) => chunk.type === 'tool-approval-request');
    const wrong = runtime.decide(runId, asked?.approvalId ?? '', { approved: true }, me); // of another run
    await expect(wrong).rejects.toMatchObject({ code: 'not_found' });
    const entries = (await entriesOf(audit)).map(({ action, status }) => `${action} ${status}`);
    expect(entries).toEqual([
      'registry.register pending',
      'registry.register ok',
      'registry.disable denied',
      'approval.decide pending',
      'approval.decide error',
    ]);
    expect(runtime.audit(me)).toBe(audit.log('local'));
  });

  it('has the end of a call whose time was over before its beginning was written', async () => {
    const inner = memoryStorage();
    const gate = Promise.withResolvers<void>();
    const slow: Storage = {
      ...inner,
      async commit(changes) {
        await gate.promise;
        return await inner.commit(changes);
      },
    };
    const audit = createAudit({ storage: slow });
    const done: string[] = [];
    const late = defineTool({
      id: 'late',
      description: 'x',
      limits: { timeoutMs: 5 },
      input: v.object({}),
      execute: () => done.push('late'),
    });
    const { model } = scriptedModel(callsTools({ tool: 'late', input: {} }), says('ok'));
    const runtime = testRuntime({ model, tools: [late], audit });
    await readAll(await runtime.run(runRequest(), me));
    gate.resolve();
    await runtime.close();
    expect(done).toEqual([]);
    const entries = (await audit.log('local').list()).items.map(({ event }) => event);
    expect(entries).toMatchObject([{ status: 'pending' }, { status: 'error', error: { code: 'deadline_exceeded' } }]);
    expect(eventProblems(entries)).toEqual([]);
  });

  it('is written completely by close, even on a slow storage', async () => {
    const inner = memoryStorage();
    const slow: Storage = {
      ...inner,
      async commit(changes) {
        await new Promise((resolve) => setTimeout(resolve, 1_500));
        return await inner.commit(changes);
      },
    };
    const audit = createAudit({ storage: slow });
    const { tools: [, write] } = tools({ limits: { timeoutMs: 10 } });
    const { model } = scriptedModel(callsTools({ tool: 'write', input: {} }), says('too slow'));
    using time = virtualTime();
    const runtime = testRuntime({ model, tools: [write], audit, now: time.now });
    const { ended } = await runtime.start(runRequest(), me, {});
    expect(await time.passUntil(ended!.then(() => runtime.close()), 10_000)).toBe(true);
    expect((await entriesOf(audit)).map(({ status }) => status)).toEqual(['pending', 'error']);
  });

  it('records who cancels a run, and no caller whom the hook refuses can cancel', async () => {
    const audit = createAudit({ storage: memoryStorage() });
    const asked: unknown[] = [];
    const { sink, events } = memorySink();
    const runtime = testRuntime({
      model: scriptedModel(() => stallingStream([])).model,
      audit,
      sinks: [sink],
      authorize(action, { subject }, resource, context) {
        asked.push([action, subject, resource, context]);
        return subject === 'eve' && action !== 'run.read'
          ? { decision: 'deny', reason: 'not hers' }
          : { decision: 'allow' };
      },
    });
    const { runId, ended } = await runtime.start(runRequest(), me, {});
    await expect(runtime.cancel(runId, createPrincipal({ ...me, subject: 'eve' }))).rejects.toMatchObject({
      code: 'forbidden',
    });
    const watching = await runtime.resume(runId, 0, { principal: createPrincipal({ ...me, subject: 'eve' }) });
    await watching.cancel();
    expect(await runtime.runs.status(me, runId)).toMatchObject({ state: 'running' });
    await runtime.cancel(runId, me);
    await ended;
    await runtime.cancel(runId, me); // no approval is requested
    const resource = { type: 'run', id: runId, subject: 'local' };
    const calls = [['run.cancel', 'eve'], ['run.read', 'eve'], ['run.cancel', 'eve'], ['run.cancel', 'local']];
    expect(asked).toEqual(calls.map((call) => [...call, resource, { agentId: 'helper' }]));
    const told = (all: readonly { action: string; status: string; actor: { id: string } }[]): string[] =>
      all.filter(({ action }) => action === 'run.cancel').map(({ status, actor }) => `${actor.id} ${status}`);
    expect(told(await entriesOf(audit))).toEqual(['eve denied', 'eve denied', 'local pending', 'local ok']);
    expect(told(events)).toEqual(['eve denied', 'eve denied', 'local ok']);
    expect(await runtime.runs.status(me, runId)).toMatchObject({ state: 'cancelled' });
    await runtime.close();
  });

  it('has one record of an administrator who streams the run of another over HTTP, and the hook is asked once', async () => {
    const audit = createAudit({ storage: memoryStorage() });
    const asked: string[] = [];
    const runtime = testRuntime({
      model: scriptedModel(says('Hi')).model,
      audit,
      authorize: (action) => (asked.push(action), { decision: 'allow' }),
    });
    const { runId, ended } = await runtime.start(runRequest(), createPrincipal({ ...me, subject: 'ada' }), {});
    await ended;
    const admin = createPrincipal({ ...me, via: 'http', subject: 'root', scopes: ['run:read', 'admin'] });
    const handle = createHandler(runtime, { authenticator: { authenticate: () => Promise.resolve(admin) } });
    const stream = async (headers: Record<string, string>) =>
      await handle(new Request(`http://127.0.0.1/v1/runs/${runId}/stream`, { headers }));
    const { lastSeq } = await runtime.runs.status(createPrincipal({ ...me, subject: 'ada' }), runId);
    for (const [headers, status] of [[{}, 200], [{ 'last-event-id': `${runId}:${lastSeq}` }, 204]] as const) {
      const before = (await entriesOf(audit)).length;
      asked.length = 0;
      const response = await stream(headers);
      expect(response.status).toBe(status);
      await response.text();
      expect(asked).toEqual(['run.read']);
      expect((await entriesOf(audit)).slice(before).map((entry) => `${entry.action} ${entry.status}`)).toEqual([
        'run.read pending',
        'run.read ok',
      ]);
    }
    await runtime.close();
  });

  it('is each tenant’s own, and for those who may see everything', async () => {
    const audit = createAudit({ storage: memoryStorage() });
    const { tools: all } = tools();
    const { model } = scriptedModel(callsTools({ tool: 'write', input: {} }), says('ok'));
    const runtime = testRuntime({ model, tools: all, audit });
    const ann = createPrincipal({ ...me, tenant: 'a', subject: 'ann' });
    await readAll(await runtime.run(runRequest(), ann));
    expect(await entriesOf(audit, 'a')).toHaveLength(2);
    expect(await entriesOf(audit, 'b')).toEqual([]);
    expect(await entriesOf(audit)).toEqual([]);
    const clerk = createPrincipal({ ...ann, scopes: ['run:create'] });
    expect(() => runtime.audit(clerk)).toThrow('the scope "admin"');
  });
});
