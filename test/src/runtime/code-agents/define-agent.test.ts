import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import * as v from 'valibot';
import { staticCatalog } from '../../../../adapters/catalog/static.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import {
  type CodeAgent,
  createPrincipal,
  createRuntime,
  defineAgent,
  defineTool,
  localPrincipal,
  type OnError,
} from '../../../../src/index.ts';
import type { AgentOptions, StopCondition } from '../../../../src/runtime/index.ts';
import { callsTools, says, type ScriptedModel, scriptedModel } from '../../../fixtures/model.ts';
import { foldMessage } from '../../../../src/runtime/fold-message.ts';
import { lastData, readAll, runRequest, userMessage } from '../../../fixtures/runtime.ts';

const add = defineTool({
  id: 'add',
  description: 'Adds',
  annotations: { readOnlyHint: true },
  input: v.object({ a: v.number(), b: v.number() }),
  execute: ({ a, b }) => a + b,
});

it('takes "tools" as another name of "entryTools", as records do', async () => {
  const { entryTools } = defineAgent({ id: 'helper', name: 'Helper', providerId: 'default', tools: ['add'] }).record;
  const record = { id: 'other', name: 'Other', providerId: 'default', tools: ['add'] };
  const catalog = staticCatalog({ agents: [record], providers: [{ id: 'default', kind: 'custom' }] });
  expect([entryTools, (await catalog.agent('other'))?.entryTools]).toEqual([['add'], ['add']]);
});

const agentOf = (options: Partial<AgentOptions>): CodeAgent =>
  defineAgent({ id: 'helper', name: 'Helper', providerId: 'default', entryTools: ['*'], ...options });

/** What was reported to the host, as the id of the hook and the cause. */
const reported: [id: unknown, cause: unknown][] = [];
beforeEach(() => void reported.splice(0));

function runtimeOf({ model }: ScriptedModel, ...agents: readonly CodeAgent[]) {
  const base = { name: 'Helper', providerId: 'default', instructions: 'From the catalog' };
  const onError: OnError = (cause, { kind, id }) => void reported.push([`${kind} ${id}`, cause]);
  const catalog = staticCatalog({
    agents: [{ ...base, id: 'helper' }, { ...base, id: 'helper', tenant: 'acme', instructions: 'Of Acme' }],
    providers: [{ id: 'default', kind: 'custom', jsonSchema: true }],
  });
  return createRuntime({
    catalog,
    agents,
    models: { model: () => model },
    storage: memoryStorage(),
    tools: [add],
    onError,
  });
}

async function run(script: ScriptedModel, options: Partial<AgentOptions>) {
  return await readAll(await runtimeOf(script, agentOf(options)).run(runRequest(), localPrincipal()));
}

const systems = ({ calls }: ScriptedModel) =>
  calls.map(({ prompt: [first] }) => first?.role === 'system' && first.content);
const failure = (reason: string) => ({ state: 'failed', error: { code: 'internal', details: { reason } } });

describe('an agent in code', () => {
  it('replaces the shared record of its id, and not that of a tenant', async () => {
    const script = scriptedModel(says('Hi'));
    const runtime = runtimeOf(script, agentOf({ instructions: 'From code' }));
    await readAll(await runtime.run(runRequest(), localPrincipal()));
    const tenant = createPrincipal({ ...localPrincipal(), tenant: 'acme' });
    await readAll(await runtime.run(runRequest(), tenant));
    expect(systems(script)).toEqual(['From code', 'Of Acme']);
  });

  it('is refused beside another one with its id, and with a tenant', () => {
    expect(() => runtimeOf(scriptedModel(), agentOf({}), agentOf({}))).toThrow('two agents have the id "helper"');
    const owned = { tenant: 'acme' } as Partial<AgentOptions>; // JavaScript callers
    expect(() => agentOf(owned)).toThrow('"tenant" is not known here');
  });
});

describe('instructions in code', () => {
  it('are reported once where they are others in each turn', async () => {
    let turns = 0;
    const instructions = () => `Help. Turn ${++turns} of this chat has begun, and more follow`;
    const runtime = runtimeOf(scriptedModel(says('Yes')), agentOf({ instructions, refresh: 'turn' }));
    const messages = [userMessage('One', 'u1')];
    for (let turn = 0; turn < 5; turn++) {
      const chunks = await readAll(
        await runtime.run(runRequest({ chat: { id: 'c', messages: [...messages] } }), localPrincipal()),
      );
      messages.push(foldMessage(chunks, undefined), userMessage('More', `m${turn}`));
    }
    expect(turns).toBe(5);
    expect(reported).toMatchObject([['hook instructions', { details: { reason: 'unstable_instructions' } }]]);
    expect(String(reported[0]?.[1])).toContain('from "3 of this chat has begun, and more follo" on');
  });

  it('fail the run as internal when the function throws or returns no text', async () => {
    const script = scriptedModel(says('Hi'));
    const broken = await run(script, { instructions: () => Promise.reject(new TypeError('the secret plan')) });
    expect(lastData(broken, 'data-run')).toMatchObject(failure('instructions'));
    expect(reported).toEqual([['hook instructions', new TypeError('the secret plan')]]);
    expect(JSON.stringify(broken)).not.toContain('secret plan');
    const empty = await run(script, { instructions: () => undefined as unknown as string });
    expect(lastData(empty, 'data-run')).toMatchObject(failure('instructions'));
    expect(script.calls).toEqual([]);
  });

  describe('that take too long', () => {
    beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
    afterEach(() => void vi.useRealTimers());

    it('fail the run after two seconds, and stop', async () => {
      const started = Promise.withResolvers<AbortSignal>();
      const instructions: AgentOptions['instructions'] = (_, { signal }) => {
        started.resolve(signal);
        return new Promise(() => undefined);
      };
      const running = run(scriptedModel(), { instructions });
      const signal = await started.promise;
      await vi.advanceTimersByTimeAsync(1_999);
      expect(signal.aborted).toBe(false);
      await vi.advanceTimersByTimeAsync(1);
      expect(signal.aborted).toBe(true);
      vi.useRealTimers();
      expect(lastData(await running, 'data-run')).toMatchObject(failure('instructions'));
    });
  });
});

describe('stopWhen', () => {
  const calls = () => scriptedModel(callsTools({ tool: 'add', input: { a: 1, b: 2 } }));

  it('is not called after the last answer', async () => {
    const stopWhen = vi.fn<StopCondition>(() => true);
    await run(scriptedModel(says('Hi')), { stopWhen });
    expect(stopWhen).not.toHaveBeenCalled();
  });

  it('fails the run as internal when it throws or returns no boolean', async () => {
    const thrown = await run(calls(), {
      stopWhen: () => {
        throw new Error('the secret plan');
      },
    });
    expect(lastData(thrown, 'data-run')).toMatchObject(failure('stop_when'));
    expect(reported).toEqual([['hook stopWhen', new Error('the secret plan')]]);
    expect(JSON.stringify(thrown)).not.toContain('secret plan');
    const odd = await run(calls(), { stopWhen: () => Promise.resolve(true) as unknown as boolean });
    expect(lastData(odd, 'data-run')).toMatchObject(failure('stop_when'));
  });
});

describe('output in code', () => {
  const Span = v.pipe(
    v.object({ from: v.number(), to: v.number() }),
    v.check(({ from, to }) => from <= to, 'must not end before it begins'),
  );

  it('may be a valibot schema: the model gets it as JSON Schema, and its checks hold', async () => {
    const script = scriptedModel(says('{"from":2,"to":1}'), says('{"from":1,"to":2}'));
    const chunks = await run(script, { output: { schema: Span, name: 'span' } });
    expect(script.calls[0]?.responseFormat).toMatchObject({
      name: 'span',
      schema: { type: 'object', required: ['from', 'to'] },
    });
    expect(JSON.stringify(script.calls[1]?.prompt.at(-1))).toContain('the value: must not end before it begins');
    expect(lastData(chunks, 'data-output')).toEqual({ from: 1, to: 2 });
  });

  it('fails the run as internal when a check throws', async () => {
    const broken = v.pipe(
      v.object({}),
      v.check(() => {
        throw new TypeError('the secret plan');
      }),
    );
    const chunks = await run(scriptedModel(says('{}')), { output: { schema: broken } });
    expect(lastData(chunks, 'data-run')).toMatchObject(failure('output_check'));
    expect(JSON.stringify(chunks)).not.toContain('secret plan');
    expect(reported).toEqual([['hook output', new TypeError('the secret plan')]]);
  });

  it('may be a schema of another library that shows it as JSON Schema, and is refused otherwise', () => {
    const validate = () => ({ issues: [] });
    const known = {
      '~standard': { version: 1, vendor: 'other', validate, jsonSchema: { input: () => ({ type: 'array' }) } },
    } as const;
    expect(agentOf({ output: { schema: known } }).record.output?.schema).toEqual({ type: 'array' });
    const unknown = { '~standard': { version: 1, vendor: 'other', validate } } as const;
    expect(() => agentOf({ output: { schema: unknown } })).toThrow(
      expect.objectContaining({ code: 'invalid_argument', details: { reason: 'invalid_schema' } }),
    );
  });
});
