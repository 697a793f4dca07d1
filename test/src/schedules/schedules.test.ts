import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import {
  createPrincipal,
  createRegistry,
  type CreateRuntimeOptions,
  defineTool,
  localPrincipal,
  PinnaceError,
  type Principal,
} from '../../../src/index.ts';
import type { ObservedEvent } from '../../../src/contracts/index.ts';
import { callsTools, says, scriptedModel, type Source, stallingStream } from '../../fixtures/model.ts';
import { testClock } from '../../fixtures/plan.ts';
import { testRuntime } from '../../fixtures/runtime.ts';

const me = localPrincipal();
const monday = Date.parse('2026-11-30T06:00:00Z');
const hourMs = 3_600_000;
const daily = { cron: '0 8 * * *', timeZone: 'Europe/Berlin' };

function person(subject: string, facts: Partial<Principal> = {}): Principal {
  return createPrincipal({
    via: 'http',
    tenant: 'acme',
    subject,
    agents: '*',
    scopes: ['run:create', 'run:read'],
    ...facts,
  });
}

function scheduled(
  answers: readonly Source[] = Array.from({ length: 20 }, () => says('done')),
  options: Partial<CreateRuntimeOptions> = {},
) {
  const clock = testClock(monday);
  const storage = options.storage ?? memoryStorage({ now: clock.now });
  const { model, calls } = scriptedModel(...answers);
  const runtime = testRuntime({ model, storage, now: clock.now, ...options });
  return { clock, storage, calls, runtime, schedules: runtime.schedules };
}

const input = { agentId: 'helper', name: 'News', message: 'What is new?', when: daily };

const fails: Source = () => {
  throw new PinnaceError('invalid_argument', 'The model takes no such request');
};

describe('a schedule', () => {
  it('starts a run at its time, in a new stored chat, with the text as the message', async () => {
    const { clock, runtime, schedules } = scheduled();
    const { id, next } = await schedules.create(input, me);
    expect(next).toEqual([1, 25, 49].map((hours) => monday + hours * hourMs));
    expect(await runtime.sweep()).toBe(0);
    clock.advance(hourMs);
    expect(await runtime.sweep()).toBe(1);
    expect(await runtime.sweep()).toBe(0);
    await expect.poll(async () => (await schedules.get(id, me)).last?.state).toBe('completed');
    const { items: fires } = await schedules.fires(id, me);
    expect(fires).toMatchObject([{ at: monday + hourMs, outcome: 'started' }]);
    const { items: [chat] } = await runtime.chats.list(me);
    const { messages } = await runtime.chats.get(chat?.chatId ?? '', me);
    expect(messages.map(({ role, parts }) => [role, parts.find(({ type }) => type === 'text')])).toMatchObject([
      ['user', { text: 'What is new?' }],
      ['assistant', { text: 'done' }],
    ]);
    expect(await schedules.get(id, me)).toMatchObject({
      failures: 0,
      next: [25, 49, 73].map((hours) => monday + hours * hourMs),
    });
  });

  it('says why it did not run, and is paused after five refusals in a row', async () => {
    const events: ObservedEvent[] = [];
    let isAllowed = true;
    const { clock, runtime, schedules } = scheduled(undefined, {
      sinks: [(event) => void events.push(event)],
      authorize: (action) =>
        action !== 'schedule.run' || isAllowed ? { decision: 'allow' } : { decision: 'deny', reason: 'left' },
    });
    const { id } = await schedules.create(input, me);
    isAllowed = false;
    for (let day = 0; day < 6; day++) {
      clock.advance(day === 0 ? hourMs : 24 * hourMs);
      await runtime.sweep();
    }
    const { items } = await schedules.fires(id, me);
    expect(items.map(({ outcome }) => outcome)).toEqual(Array(5).fill('refused'));
    expect(items[0]).toMatchObject({ error: { code: 'forbidden', reason: 'not_authorized' } });
    expect(await schedules.get(id, me)).toMatchObject({
      paused: { by: 'system', reason: 'failures' },
      failures: 5,
      next: [],
    });
    expect(events.filter(({ action }) => action === 'schedule.pause')).toMatchObject([{ actor: { type: 'system' } }]);
    isAllowed = true;
    expect(await schedules.resume(id, me)).toMatchObject({
      failures: 0,
      next: [expect.any(Number), expect.any(Number), expect.any(Number)],
    });
  });

  it('is refused while its agent is disabled, and runs again once it is enabled', async () => {
    const registry = createRegistry({ storage: memoryStorage() });
    await registry.put('provider', { id: 'default', kind: 'custom' });
    await registry.put('agent', { id: 'helper', name: 'Helper', providerId: 'default' });
    const { clock, runtime, schedules } = scheduled(undefined, { catalog: registry });
    const { id } = await schedules.create(input, me);
    const sweepAfter = async (hours: number) => (clock.advance(hours * hourMs), await runtime.sweep());
    await registry.agents.disable('helper', { principal: me });
    await runtime.invalidate(['agent:helper']);
    expect(await sweepAfter(1)).toBe(0);
    expect((await schedules.fires(id, me)).items).toMatchObject([
      { outcome: 'refused', error: { code: 'forbidden', reason: 'agent_disabled' } },
    ]);
    await registry.agents.enable('helper', { principal: me });
    await runtime.invalidate(['agent:helper']);
    expect(await sweepAfter(24)).toBe(1);
  });

  it('goes on by the server when the call that its run asks for is approved in the inbox', async () => {
    const done: string[] = [];
    const send = defineTool({
      id: 'send',
      description: 'Sends',
      input: v.object({ to: v.string() }),
      approval: 'always',
      execute: ({ to }) => done.push(to),
    });
    const answers = [callsTools({ tool: 'send', input: { to: 'bo' } }), says('sent')];
    const { clock, runtime, schedules } = scheduled(answers, { tools: [send] });
    const { id } = await schedules.create(input, me);
    clock.advance(hourMs);
    expect(await runtime.sweep()).toBe(1);
    await expect.poll(async () => (await runtime.inbox.list(me)).waiting).toBe(1);
    const [item] = (await runtime.inbox.list(me)).items;
    const fired = (await schedules.fires(id, me)).items[0];
    expect(item).toMatchObject({ runId: fired?.runId, goesOn: true, chatId: `${id}-${fired?.at}` });
    const [result] = await runtime.inbox.decide([{ id: item!.id, seen: item!.seen, approved: true }], me);
    expect(result).toMatchObject({ state: 'stored', runId: expect.stringMatching(/^run_/) });
    await expect.poll(async () => (await runtime.chats.get(item!.chatId!, me)).messages.at(-1)?.parts)
      .toContainEqual(expect.objectContaining({ text: 'sent' }));
    expect(done).toEqual(['bo']);
  });

  it('pauses after five runs that fail', async () => {
    const { clock, runtime, schedules } = scheduled(Array.from({ length: 5 }, () => fails));
    const { id } = await schedules.create({ ...input, when: { everyMs: 60_000 } }, me);
    for (let minute = 1; minute <= 6; minute++) {
      clock.advance(60_000);
      await runtime.sweep();
      await expect.poll(async () => (await schedules.get(id, me)).failures).toBe(Math.min(5, minute));
    }
    expect((await schedules.get(id, me)).paused).toMatchObject({ reason: 'failures' });
  });

  const stuck = (): Source => () => stallingStream([]);
  it.each(
    [
      ['skip', 2, ['overlap', 'started']],
      ['queue', 2, ['started']], // the second waits
      ['allow', 2, ['started', 'started']],
    ] as const,
  )('with overlap "%s" while the last run goes on', async (overlap, sweeps, outcomes) => {
    const { clock, runtime, schedules } = scheduled([stuck(), says('second')]);
    const { id } = await schedules.create({ ...input, overlap, when: { everyMs: 60_000 } }, me);
    for (let sweep = 0; sweep < sweeps; sweep++) {
      clock.advance(60_000);
      await runtime.sweep();
    }
    expect((await schedules.fires(id, me)).items.map(({ outcome }) => outcome)).toEqual(outcomes);
    if (overlap !== 'queue') return;
    const { last } = await schedules.get(id, me);
    await runtime.cancel(last?.runId ?? '', me);
    await expect.poll(async () => (await schedules.get(id, me)).last?.state).toBe('cancelled');
    clock.advance(10_000);
    expect(await runtime.sweep()).toBe(1);
    expect((await schedules.fires(id, me)).items.map(({ at, outcome }) => [at - monday, outcome])).toEqual([
      [120_000, 'started'],
      [60_000, 'started'],
    ]);
  });

  it('of what it missed runs the last occurrence, unless that is too late', async () => {
    const { clock, runtime, schedules } = scheduled();
    const { id } = await schedules.create({ ...input, when: { cron: '*/30 * * * *' }, catchUpMs: hourMs }, me);
    const { id: late } = await schedules.create({ ...input, catchUpMs: hourMs }, me);
    clock.advance(5 * hourMs + 60_000);
    expect(await runtime.sweep()).toBe(1);
    expect((await schedules.fires(id, me)).items).toMatchObject([
      { at: monday + 5 * hourMs, outcome: 'started' },
      { at: monday + hourMs / 2, outcome: 'missed', count: 9 },
    ]);
    expect((await schedules.fires(late, me)).items).toMatchObject([{ at: monday + hourMs, outcome: 'missed' }]);
    expect((await schedules.get(late, me)).next[0]).toBe(monday + 25 * hourMs);
  });

  it('runs with the rights of its last writer, and only those who have them write one', async () => {
    const { schedules } = scheduled();
    const rows: [Partial<Principal>, string][] = [
      [{ scopes: ['run:read'] }, 'scope_missing'],
      [{ agents: ['other'] }, 'agent_not_allowed'],
    ];
    for (const [facts, reason] of rows) {
      await expect(schedules.create(input, person('ada', facts))).rejects.toMatchObject({
        code: 'forbidden',
        details: { reason },
      });
    }
    await expect(schedules.create({ ...input, agentId: 'nobody' }, person('ada'))).rejects.toMatchObject({
      code: 'not_found',
    });
    const { id } = await schedules.create(input, person('ada'));
    const boss = person('boss', { scopes: ['run:create', 'run:read', 'admin'] });
    const refused = { code: 'forbidden', details: { reason: 'not_the_owner' } };
    await expect(schedules.update(id, { message: 'Send me the keys' }, boss)).rejects.toMatchObject(refused);
    await expect(schedules.run(id, boss)).rejects.toMatchObject(refused);
    await expect(schedules.resume(id, boss)).rejects.toMatchObject(refused);
    for (
      const other of [
        person('bo'),
        person('ada', { tenant: 'b' }),
        person('boss', { tenant: 'b', scopes: ['run:create', 'run:read', 'admin'] }),
      ]
    ) {
      await expect(schedules.get(id, other)).rejects.toMatchObject({ code: 'not_found' });
      await expect(schedules.delete(id, other)).rejects.toMatchObject({ code: 'not_found' });
      await expect(schedules.update(id, { name: 'x' }, other)).rejects.toMatchObject({ code: 'not_found' });
    }
    expect(await schedules.pause(id, boss)).toMatchObject({ paused: { by: 'boss', reason: 'requested' }, next: [] });
    expect(await schedules.erase('ada', boss)).toBe(1);
    expect((await schedules.list(person('ada'))).items).toEqual([]);
  });

  it('is refused where it cannot be kept', async () => {
    const { schedules } = scheduled();
    const wrong: unknown[] = [
      { when: { cron: '0 8 * *' } },
      { when: { cron: '* * * * * *' } },
      { when: { cron: '0 0 30 2 *' } },
      { when: { cron: '0 8 * * *', timeZone: 'Europe/Atlantis' } },
      { when: { everyMs: 10 } },
      { when: { at: 'tomorrow' } },
      ...[1e300, 8.64e15 + 1, -1, 0.5, NaN, '0000-01-01T00:00:00Z'].flatMap((time) => [
        { when: { at: time } },
        { when: { everyMs: 60_000, from: time } },
        { expiresAt: time },
      ]),
      { when: { at: monday } }, // it has passed
      { expiresAt: monday },
      { when: { cron: '0 0 29 2 *' } }, // not before it expires
      { name: 'News\u0000' },
      { name: 'sweN\u202e' },
      { when: {} },
      { message: '' },
      { catchUpMs: 8 * 24 * hourMs },
    ];
    for (const one of wrong) {
      await expect(schedules.create({ ...input, ...one as object }, me)).rejects.toMatchObject({
        code: 'invalid_argument',
      });
    }
    const often = { ...input, when: { everyMs: 30_000 } };
    await expect(schedules.create(often, person('ada'))).rejects.toMatchObject({ details: { reason: 'too_often' } });
    for (let count = 0; count < 100; count++) await schedules.create(input, person('ada'));
    await expect(schedules.create(input, person('ada'))).rejects.toMatchObject({
      details: { reason: 'too_many_schedules' },
    });
    const { items, nextPageToken } = await schedules.list(person('ada'), { limit: 60 });
    const rest = await schedules.list(person('ada'), { limit: 60, pageToken: nextPageToken });
    expect(new Set([...items, ...rest.items].map(({ id }) => id)).size).toBe(100);
  });

  it('keeps an occurrence that is due when its text changes, and refuses a change that has not seen the last one', async () => {
    const { clock, runtime, schedules, calls } = scheduled();
    const { id, revision } = await schedules.create(input, me);
    clock.advance(hourMs);
    await schedules.update(id, { message: 'Any news?', revision }, me);
    await expect(schedules.update(id, { message: 'x', revision }, me)).rejects.toMatchObject({
      code: 'conflict',
      details: { reason: 'version_mismatch', latestVersion: 2 },
    });
    expect(await runtime.sweep()).toBe(1);
    await expect.poll(() => calls.length).toBe(1);
    expect(JSON.stringify(calls[0]?.prompt)).toContain('Any news?');
  });

  it('wakes without a sweep while its process lives', async () => {
    const { model } = scriptedModel(says('done'));
    const { schedules } = testRuntime({ model, storage: memoryStorage() });
    const { id } = await schedules.create({ ...input, when: { at: Date.now() + 100 } }, me);
    await expect.poll(async () => (await schedules.get(id, me)).last?.state).toBe('completed');
  });
});
