import * as fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it, vi } from 'vitest';
import { memorySink } from '../../../adapters/sinks/memory.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import {
  createPrincipal,
  type CreateRuntimeOptions,
  defineTool,
  localPrincipal,
  type PlanningRuntime,
  type UIMessage,
} from '../../../src/index.ts';
import { createRules } from '../../../src/permission/index.ts';
import { editsOf } from '../../../src/tools/edited-calls.ts';
import { callsTools, says, scriptedModel } from '../../fixtures/model.ts';
import { person } from '../../fixtures/persons/stage.ts';
import { outputOf, programRuntime, sender, take } from '../../fixtures/programs.ts';
import { readAll, runRequest, testRuntime, userMessage } from '../../fixtures/runtime.ts';

const ada = person('ada');

/** A mail that the model wants to send, in a stored chat, and what was sent. */
async function stageOf(
  { edit, describe: shows = false, ...options }: Partial<CreateRuntimeOptions> & { edit?: false; describe?: boolean } =
    {},
) {
  const sent: unknown[] = [];
  const send = defineTool({
    id: 'send_mail',
    description: 'Sends a mail',
    approval: 'always',
    ...(edit === false && { edit }),
    input: v.strictObject({ to: v.string(), text: v.string(), tags: v.optional(v.array(v.string())) }),
    ...(shows && { describe: ({ to }: { to: string }) => ({ quote: to }) }),
    execute: (input) => {
      sent.push(input);
      return { done: true };
    },
  });
  const { model, calls } = scriptedModel(
    callsTools({ tool: 'send_mail', input: { to: 'bo', text: 'Hi' } }),
    says('Done'),
    says('Later'),
  );
  const runtime = testRuntime({ model, tools: [send], storage: memoryStorage(), ...options });
  await readAll(await runtime.run(runRequest({ chat: { id: 'c1', store: true, messages: [userMessage('Go')] } }), ada));
  const decide = async (input: unknown, more = {}) => {
    const { items: [item] } = await runtime.inbox.list(ada);
    const [result] = await runtime.inbox.decide(
      [{ id: item!.id, seen: item!.seen, approved: true, input, ...more }],
      ada,
    );
    if (result?.state !== 'stored') return `${result?.error.code} ${String(result?.error.details?.['reason'])}`;
    if (result.runId !== undefined) await readAll(await runtime.resume(result.runId, 0, { principal: ada }));
    return 'ok';
  };
  return { runtime, sent, calls, decide };
}

/** The message as a client sends it after the decisions. */
function answered(message: UIMessage): UIMessage {
  const parts = message.parts.map((part) =>
    'approval' in part && part.state === 'approval-requested'
      ? { ...part, state: 'approval-responded', approval: { id: part.approval.id, approved: true } }
      : part
  );
  return { ...message, parts: parts as UIMessage['parts'] };
}

const partsOf = async (runtime: PlanningRuntime) => (await runtime.chats.get('c1', ada)).messages.at(-1)!.parts;

describe('a call that a person changes before approving it', () => {
  it('is made with the new input, and the history is one true call', async () => {
    const { runtime, sent, calls, decide } = await stageOf();
    const { items: [item] } = await runtime.inbox.list(ada);
    expect((await runtime.inbox.get(item!.id, ada)).edit).toMatchObject({
      input: { to: 'bo', text: 'Hi' },
      schema: { type: 'object' },
    });
    expect(await decide({ to: 'cy', text: 'Hi' })).toBe('ok');
    expect(sent).toEqual([{ to: 'cy', text: 'Hi' }]);
    const parts = await partsOf(runtime);
    expect(parts.find(({ type }) => type === 'tool-send_mail')).toMatchObject({
      state: 'output-available',
      input: { to: 'cy', text: 'Hi' },
      output: { done: true },
    });
    const edited = { toolCallId: 'call-0', edits: [{ path: '/to', before: 'bo', after: 'cy' }] };
    expect(parts.find(({ type }) => type === 'data-edited-call')).toMatchObject({ data: edited });
    const line = 'A person changed /to before approving: from \\"bo\\" to \\"cy\\".';
    const told = JSON.stringify(calls[1]?.prompt);
    expect(told).toContain(line);
    await readAll(
      await runtime.run(runRequest({ chat: { id: 'c1', store: true, messages: [userMessage('And?', 'm9')] } }), ada),
    );
    expect(JSON.stringify(calls[2]?.prompt).startsWith(told.slice(0, -1))).toBe(true); // later turns send the same
  });

  it('is spent once', async () => {
    const { sent, decide, runtime } = await stageOf();
    const { items: [item] } = await runtime.inbox.list(ada);
    await decide({ to: 'cy', text: 'Hi' });
    const again = { id: item!.id, seen: item!.seen, approved: true, input: { to: 'dan', text: 'Hi' } };
    expect((await runtime.inbox.decide([again], ada))[0]).toMatchObject({ error: { code: 'already_decided' } });
    expect(sent).toHaveLength(1);
  });

  it.each<[string, unknown, object, Parameters<typeof stageOf>[0]]>([
    ['invalid_argument invalid_data', { to: 1, text: 'Hi' }, {}, {}],
    ['invalid_argument invalid_data', { to: 'cy' }, {}, {}],
    ['invalid_argument invalid_data', 'text', {}, {}],
    ['invalid_argument invalid_data', { to: 'cy', text: 'Hi', bcc: 'x' }, {}, {}],
    ['invalid_argument input_too_large', { to: 'cy', text: 'x'.repeat(70_000) }, {}, {}],
    ['invalid_argument edit_denied', { to: 'cy', text: 'Hi' }, { approved: false }, {}],
    ['invalid_argument not_editable', { to: 'cy', text: 'Hi' }, {}, { edit: false }],
    ['invalid_argument not_editable', { to: 'cy', text: 'Hi' }, {}, {
      authorize: createRules([{ effect: 'ask', actions: ['tool.call'], edit: false }], { otherwise: 'allow' }),
    }],
  ])('is refused as %s for %j', async (outcome, input, more, options) => {
    const { sent, decide } = await stageOf(options);
    expect([await decide(input, more), sent]).toEqual([outcome, []]);
    expect(await decide(undefined)).toBe('ok'); // it still waits
  });

  it('asks anew where a rule names others for the new input, or the tool shows another thing', async () => {
    const authorize = createRules([
      { effect: 'ask', actions: ['tool.call'], when: [{ at: '/to', equals: 'boss' }], approvers: ['role:chief'] },
    ], { otherwise: 'allow' });
    for (const options of [{ authorize }, { describe: true }]) {
      const { runtime, sent, decide } = await stageOf(options);
      expect(await decide({ to: 'boss', text: 'Hi' })).toBe('ok');
      expect(sent).toEqual([]);
      const chief = person('ada', { roles: ['chief'] });
      const { items: [item] } = await runtime.inbox.list(chief);
      expect((await runtime.inbox.get(item!.id, chief)).edit?.input).toEqual({ to: 'boss', text: 'Hi' });
      const [result] = await runtime.inbox.decide([{ id: item!.id, seen: item!.seen, approved: true }], chief);
      if (result?.state === 'stored') await readAll(await runtime.resume(result.runId!, 0, { principal: ada }));
      expect(sent).toEqual([{ to: 'boss', text: 'Hi' }]);
    }
  });

  it('is changed in a program too, whose code gets the result; a rule asks anew for the new input', async () => {
    const me = createPrincipal({ ...localPrincipal(), roles: ['chief'] });
    const authorize = createRules([
      {
        effect: 'ask',
        actions: ['tool.call'],
        resources: ['tool:send'],
        when: [{ at: '/to', equals: 'boss' }],
        approvers: ['role:chief'],
      },
    ], { otherwise: 'allow' });
    for (const [to, times] of [['cy', 1], ['boss', 2]] as const) {
      const { tool, sent } = sender('always');
      const { runtime } = programRuntime("return await tools.send({ to: 'bo' });", { tools: [tool], authorize });
      let turn = await take(runtime);
      for (let time = 0; time < times; time++) {
        expect(sent).toEqual([]);
        const { items: [item] } = await runtime.inbox.list(me);
        const decision = { id: item!.id, seen: item!.seen, approved: true, ...(time === 0 && { input: { to } }) };
        expect(await runtime.inbox.decide([decision], me)).toMatchObject([{ state: 'stored' }]);
        turn = await take(runtime, [userMessage('Go'), answered(turn.message)]);
      }
      expect([sent, outputOf(turn.message)]).toEqual([[to], { sent: to }]);
      const edited = { toolCallId: 'p/1', edits: [{ path: '/to', before: 'bo', after: to }] };
      expect(turn.message.parts.find(({ type }) => type === 'data-edited-call')).toMatchObject({ data: edited });
    }
  });

  it('runs what fits and nothing else, for any input', async () => {
    const { decide, sent } = await stageOf();
    const value = fc.oneof(fc.jsonValue(), fc.record({ to: fc.string(), text: fc.jsonValue() }));
    for (const input of fc.sample(value, 1000)) {
      const fits = v.safeParse(v.strictObject({ to: v.string(), text: v.string() }), input).success;
      if (fits) continue; // the rest is never approved, so all of them meet the same question
      const outcome = await decide(input).catch(({ code }: { code: string }) => code); // names such as __proto__ are no data
      expect(outcome, JSON.stringify(input)).toMatch(/^invalid_argument/);
    }
    expect(sent).toEqual([]);
  });

  it('names exactly what differs', () => {
    fc.assert(fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
      expect(editsOf(one, one)).toEqual([]);
      const differs = JSON.stringify(one) !== JSON.stringify(other);
      if (editsOf(one, other).length > 0) expect(differs).toBe(true);
    }));
  });
});

describe('a call of a plan that a person changes before approving it', () => {
  const owner = person('ada', { via: 'in-process' });
  const asksChief = createRules([
    { effect: 'ask', actions: ['tool.call'], when: [{ at: '/to', equals: 'boss' }], approvers: ['role:chief'] },
  ], { otherwise: 'allow' });
  const chief = person('cleo', { roles: ['chief'] });

  /** A plan whose agent wants to send a mail, and says what it was told. */
  async function planOf(options: Partial<CreateRuntimeOptions> = {}) {
    const sent: unknown[] = [];
    const send = defineTool({
      id: 'send_mail',
      description: 'Sends a mail',
      approval: 'always',
      input: v.strictObject({ to: v.string(), text: v.string() }),
      execute: (input) => {
        sent.push(input);
        return { done: true };
      },
      undo: { describe: ({ to }) => ({ quote: to }), execute: ({ to }) => void sent.push(`not ${to}`) },
    });
    const { model, calls } = scriptedModel(
      callsTools({ tool: 'send_mail', input: { to: 'bo', text: 'Hi' } }),
      says('Done'),
    );
    const sink = memorySink();
    const storage = memoryStorage();
    const runtime = testRuntime({ model, tools: [send], storage, sinks: [sink.sink], ...options });
    const started = await runtime.start(runRequest({ planner: { allowHumanIntervention: true } }), owner, {});
    const { items: [item] } = await vi.waitUntil(async () => {
      const page = await runtime.inbox.list(owner);
      return page.items.length > 0 && page;
    });
    const planId = item!.runId;
    const decide = async (
      input: unknown,
      { who = owner, ...more }: { who?: typeof owner; approved?: boolean } = {},
    ) => {
      const { items: [open] } = await runtime.inbox.list(who);
      const [result] = await runtime.inbox.decide(
        [{ id: open!.id, seen: open!.seen, approved: true, ...(input !== undefined && { input }), ...more }],
        who,
      );
      return result?.state === 'stored' ? 'ok' : `${result?.error.code} ${String(result?.error.details?.['reason'])}`;
    };
    return { runtime, sent, calls, decide, planId, item: item!, sink, ...started };
  }

  it('is made with the new input, which the model reads as its own call, with a line', async () => {
    const { runtime, sent, calls, decide, planId, item, sink, runId, ended } = await planOf();
    expect((await runtime.inbox.get(item.id, owner)).edit).toMatchObject({ input: { to: 'bo', text: 'Hi' } });
    expect(await decide({ to: 'cy', text: 'Hi' })).toBe('ok');
    expect(await runtime.planner.outcome(planId, owner)).toMatchObject({ state: 'done' });
    expect(sent).toEqual([{ to: 'cy', text: 'Hi' }]);
    const told = JSON.stringify(calls[1]?.prompt);
    expect(told).toContain('A person changed /to before approving: from \\"bo\\" to \\"cy\\".');
    expect(told).toContain('"input":{"to":"cy","text":"Hi"}');
    expect(told).not.toContain('"input":{"to":"bo"');
    const decided = sink.events.find(({ action }) => action === 'approval.decide');
    expect(decided?.payloadSummary).toContain(' paths=/to digest=');
    expect(JSON.stringify(sink.events)).not.toContain('"cy"');
    await ended;
    const { digest, calls: done } = await runtime.undo.preview(runId, {}, owner);
    expect(done).toMatchObject([{ quote: 'cy', can: 'yes' }]);
    await runtime.undo.run(runId, { digest }, owner);
    expect(sent.at(-1)).toBe('not cy');
  });

  it.each<[string, unknown, object]>([
    ['invalid_argument invalid_data', { to: 1, text: 'Hi' }, {}],
    ['invalid_argument invalid_data', { to: 'cy', text: 'Hi', bcc: 'x' }, {}],
    ['invalid_argument input_too_large', { to: 'cy', text: 'x'.repeat(70_000) }, {}],
    ['invalid_argument edit_denied', { to: 'cy', text: 'Hi' }, { approved: false }],
  ])('is refused as %s', async (outcome, input, more) => {
    const { runtime, sent, decide, planId, item } = await planOf();
    expect([await decide(input, more), sent]).toEqual([outcome, []]);
    const reply = { askId: item.id, answer: { approved: true, ...more, input } }; // only the inbox takes inputs
    await expect(runtime.reply(planId, reply, owner)).rejects.toMatchObject({ code: 'invalid_argument' });
    expect(await decide({ to: 'bo', text: 'Hi' })).toBe('ok'); // it still waits, and the same input is no change
    await runtime.planner.outcome(planId, owner);
    expect(sent).toEqual([{ to: 'bo', text: 'Hi' }]);
  });

  it('asks anew where a rule names others for the new input', async () => {
    const { runtime, sent, decide, planId, calls } = await planOf({ authorize: asksChief });
    expect(await decide({ to: 'boss', text: 'Hi' })).toBe('ok');
    await vi.waitUntil(async () => (await runtime.inbox.list(chief)).items.length > 0);
    expect(sent).toEqual([]);
    const { items: [item] } = await runtime.inbox.list(chief);
    expect(item).toMatchObject({ approvers: ['role:chief'], runId: planId });
    expect((await runtime.inbox.get(item!.id, chief)).edit?.input).toEqual({ to: 'boss', text: 'Hi' });
    expect(await decide(undefined, { who: chief })).toBe('ok');
    await runtime.planner.outcome(planId, owner);
    expect(sent).toEqual([{ to: 'boss', text: 'Hi' }]);
    expect(JSON.stringify(calls[1]?.prompt)).toContain('from \\"bo\\" to \\"boss\\"');
  });
});
