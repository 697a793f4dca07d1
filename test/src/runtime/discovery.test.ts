import { describe, expect, it } from 'vitest';
import * as v from 'valibot';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createPrincipal, defineTool, localPrincipal, type Tool } from '../../../src/index.ts';
import { callsTools, says, type ScriptedModel, scriptedModel } from '../../fixtures/model.ts';
import { lastData, readAll, runRequest, testRuntime } from '../../fixtures/runtime.ts';

const nouns = ['invoice', 'ticket', 'branch', 'photo', 'meeting', 'parcel', 'recipe', 'account', 'sensor', 'poem'];
const verbs = ['create', 'list', 'archive', 'rename', 'share'];

/** Fifty tools, `crm_create_invoice` and so on, each of which says what it did. */
const many: readonly Tool[] = nouns.flatMap((noun) =>
  verbs.map((verb) =>
    defineTool({
      id: `crm_${verb}_${noun}`,
      description: `${verb} one ${noun} of the customer`,
      input: v.strictObject({ id: v.optional(v.string()) }),
      ...(verb === 'archive' && { renamedFrom: [`old_${noun}_bin`] }),
      execute: () => `${verb} ${noun}: done`,
    })
  )
);

const entryTools = ['tool_*', 'crm_*'];
const four = ['tool_find', 'tool_describe', 'tool_load', 'tool_active'];

const seen = ({ calls }: ScriptedModel, step: number) => calls[step]?.tools?.map(({ name }) => name);
const loads = (...names: string[]) => callsTools({ tool: 'tool_load', input: { names } });
const uses = (tool: string) => callsTools({ tool, input: {} });

describe('discovery in a run', () => {
  it('is on without being named when the definitions take more than half of the context window', async () => {
    const script = [
      callsTools({ tool: 'tool_find', input: { query: 'archive a ticket' } }),
      loads('crm_archive_ticket'),
      uses('crm_archive_ticket'),
      says('Done'),
    ];
    const scripted = scriptedModel(...script);
    const agent = { entryTools: ['crm_*', 'crm_list_poem'], contextTokens: 3_000 };
    const runtime = testRuntime({ model: scripted.model, tools: many, agent });
    const chunks = await readAll(await runtime.run(runRequest(), localPrincipal()));
    expect(seen(scripted, 0)).toEqual([...four, 'crm_list_poem']);
    expect(seen(scripted, 2)).toEqual([...four, 'crm_archive_ticket', 'crm_list_poem']);
    expect(lastData(chunks, 'data-run')['state']).toBe('completed');
    const roomy = scriptedModel(says('Done'));
    const other = testRuntime({ model: roomy.model, tools: many, agent: { entryTools: ['crm_*'] } });
    await readAll(await other.run(runRequest(), localPrincipal()));
    expect(seen(roomy, 0)).toHaveLength(50);
  });

  it('starts with four tools, finds among fifty, and calls what it loaded in the next step', async () => {
    const scripted = scriptedModel(
      callsTools({ tool: 'tool_find', input: { query: 'archive a ticket' } }),
      loads('crm_archive_ticket'),
      uses('crm_archive_ticket'),
      says('Done'),
    );
    const runtime = testRuntime({ model: scripted.model, tools: many, agent: { entryTools } });
    const chunks = await readAll(await runtime.run(runRequest(), localPrincipal()));
    expect([0, 1, 2, 3].map((step) => seen(scripted, step))).toEqual([
      four,
      four,
      [...four, 'crm_archive_ticket'],
      [...four, 'crm_archive_ticket'],
    ]);
    const outputs = chunks.flatMap((chunk) => chunk.type === 'tool-output-available' ? [chunk.output] : []);
    expect(outputs[0]).toMatchObject({ tools: expect.arrayContaining([expect.objectContaining({ active: false })]) });
    expect(outputs[1]).toMatchObject({ active: 1, loaded: [{ name: 'crm_archive_ticket' }] });
    expect(outputs[2]).toBe('archive ticket: done');
  });

  it('shows from the start what the allowlist names one by one', async () => {
    const scripted = scriptedModel(says('Hi'));
    const agent = { entryTools: [...entryTools, 'crm_list_poem'] };
    const runtime = testRuntime({ model: scripted.model, tools: many, agent });
    await readAll(await runtime.run(runRequest(), localPrincipal()));
    expect(seen(scripted, 0)).toEqual([...four, 'crm_list_poem']);
  });

  it('is off for an agent that only says "*", which sees every tool at once', async () => {
    const scripted = scriptedModel(says('Hi'));
    const runtime = testRuntime({ model: scripted.model, tools: many, agent: { entryTools: ['*'] } });
    await readAll(await runtime.run(runRequest(), localPrincipal()));
    expect(seen(scripted, 0)).toEqual(many.map(({ definition }) => definition.name).toSorted());
  });

  it('keeps loaded tools for the next request of the same chat, also on another instance, and for no other chat', async () => {
    const storage = memoryStorage();
    const first = scriptedModel(loads('crm_share_photo'), says('Loaded'));
    const one = testRuntime({ model: first.model, tools: many, agent: { entryTools }, storage });
    await readAll(await one.run(runRequest(), localPrincipal()));

    const next = scriptedModel(uses('crm_share_photo'), says('Shared'), says('Hi'));
    const two = testRuntime({ model: next.model, tools: many, agent: { entryTools }, storage });
    const chunks = await readAll(await two.run(runRequest(), localPrincipal()));
    expect(seen(next, 0)).toEqual([...four, 'crm_share_photo']);
    expect(chunks).toContainEqual(expect.objectContaining({ output: 'share photo: done' }));

    const { chat } = runRequest();
    await readAll(await two.run(runRequest({ chat: { ...chat, id: 'chat-2' } }), localPrincipal()));
    const other = createPrincipal({ ...localPrincipal(), tenant: 'other' });
    await readAll(await two.run(runRequest(), other));
    expect([seen(next, 2), seen(next, 3)]).toEqual([four, four]);
  });

  it("filters what was loaded by today's allowlist", async () => {
    const storage = memoryStorage();
    const first = scriptedModel(loads('crm_share_photo', 'crm_list_poem'), says('Loaded'));
    const one = testRuntime({ model: first.model, tools: many, agent: { entryTools }, storage });
    await readAll(await one.run(runRequest(), localPrincipal()));

    const next = scriptedModel(uses('crm_share_photo'), says('No'));
    const agent = { entryTools: ['tool_*', 'crm_list_*'] };
    const two = testRuntime({ model: next.model, tools: many, agent, storage });
    const chunks = await readAll(await two.run(runRequest(), localPrincipal()));
    expect(seen(next, 0)).toEqual([...four, 'crm_list_poem']);
    expect(lastData(chunks, 'data-tool-error')).toMatchObject({ tool: 'crm_share_photo', code: 'not_found' });
    expect(JSON.stringify(next.calls[1]?.prompt)).not.toContain('share photo: done');
  });

  it.each([
    ['a tool that is not loaded', 'crm_list_poem', 'it is not active; load it with tool_load first'],
    ['a former name', 'old_poem_bin', 'it is now named "crm_archive_poem"'],
    ['a name that never was', 'compose_poem', 'look for one with tool_find'],
  ])('advises model and client about a call of %s', async (_, tool, advice) => {
    const scripted = scriptedModel(uses(tool), says('I see'));
    const runtime = testRuntime({ model: scripted.model, tools: many, agent: { entryTools } });
    const chunks = await readAll(await runtime.run(runRequest(), localPrincipal()));
    expect(lastData(chunks, 'data-tool-error')).toMatchObject({ tool, code: 'not_found' });
    const told = JSON.stringify(scripted.calls[1]?.prompt);
    expect(told.replaceAll('\\"', '"')).toContain(advice);
    expect(lastData(chunks, 'data-tool-error')['message']).toContain(advice);
  });

  it('asks before a loaded tool acts', async () => {
    const risky = defineTool({
      id: 'crm_erase',
      description: 'erase the customer',
      input: v.strictObject({}),
      approval: 'always',
      execute: () => 'erased',
    });
    const scripted = scriptedModel(loads('crm_erase'), uses('crm_erase'), says('Gone'));
    const runtime = testRuntime({ model: scripted.model, tools: [...many, risky], agent: { entryTools } });
    const chunks = await readAll(await runtime.run(runRequest(), localPrincipal()));
    expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'awaiting_approval' });
    expect(chunks.filter(({ type }) => type === 'tool-approval-request')).toHaveLength(1);
  });

  it('reports what definitions cost, and what discovery saved', async () => {
    const script = [loads('crm_share_photo'), says('Hi')] as const;
    const usageWith = async (patterns: string[]) => {
      const runtime = testRuntime({
        model: scriptedModel(...script).model,
        tools: many,
        agent: { entryTools: patterns },
      });
      return lastData(await readAll(await runtime.run(runRequest(), localPrincipal())), 'data-usage');
    };
    const found = await usageWith(entryTools);
    const whole = await usageWith(['*']);
    expect(whole['toolTokensSaved']).toBe(0);
    expect(Number(found['toolTokens'])).toBeGreaterThan(0);
    expect(Number(found['toolTokens'])).toBeLessThan(Number(whole['toolTokens']) / 2);
    // Two steps; the four are not part of the whole set without discovery.
    expect(Number(found['toolTokens']) + Number(found['toolTokensSaved'])).toBeGreaterThan(Number(whole['toolTokens']));
  });

  it('takes a re-ranker', async () => {
    const scripted = scriptedModel(callsTools({ tool: 'tool_find', input: { query: 'poem', limit: 1 } }), says('Hi'));
    const runtime = testRuntime({
      model: scripted.model,
      tools: many,
      agent: { entryTools },
      rerank: async (_, hits) => hits.toReversed(),
    });
    const plain = testRuntime({
      model: scriptedModel(callsTools({ tool: 'tool_find', input: { query: 'poem', limit: 1 } }), says('Hi')).model,
      tools: many,
      agent: { entryTools },
    });
    const first = async (of: typeof plain) => {
      const chunks = await readAll(await of.run(runRequest(), localPrincipal()));
      return chunks.flatMap((chunk) => chunk.type === 'tool-output-available' ? [chunk.output] : [])[0];
    };
    const [reranked, ranked] = [await first(runtime), await first(plain)];
    expect(reranked).toMatchObject({ tools: [{ name: expect.stringContaining('poem') }] });
    expect(reranked).not.toEqual(ranked);
  });
});
