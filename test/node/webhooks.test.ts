import { createServer, type IncomingHttpHeaders } from 'node:http';
import { Webhook } from 'standardwebhooks';
import * as v from 'valibot';
import { afterEach, describe, expect, it } from 'vitest';
import { denoEgress } from '../../adapters/egress/deno.ts';
import { memorySecrets } from '../../adapters/secrets/memory.ts';
import { memoryStorage } from '../../adapters/storage/memory.ts';
import type { ObservedEvent } from '../../src/contracts/index.ts';
import {
  createPrincipal,
  type CreateRuntimeOptions,
  defineTool,
  localPrincipal,
  type Storage,
} from '../../src/index.ts';
import { callsTools, says, scriptedModel } from '../fixtures/model.ts';
import { testClock } from '../fixtures/plan.ts';
import { lastData, readAll, runRequest, testRuntime } from '../fixtures/runtime.ts';
import { closeServer, listen } from '../tools/servers/http-server.ts';

const me = localPrincipal();
const keys = { new: `whsec_${btoa('n'.repeat(24))}`, old: `whsec_${btoa('o'.repeat(24))}` };

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const open: (() => Promise<void>)[] = [];
afterEach(async () => void await Promise.all(open.splice(0).map((close) => close())));

/** A receiver that answers with these statuses, the last of them for ever. */
async function receiver(...statuses: number[]) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (data) => body += String(data));
    request.on('end', () => {
      received.push({ headers: request.headers, body });
      const status = statuses.length > 1 ? statuses.shift()! : statuses[0]!;
      response.writeHead(status, status === 302 ? { location: 'http://127.0.0.1:1/' } : {}).end('ok');
    });
  });
  const url = await listen(server);
  open.push(() => closeServer(server));
  return { url, received };
}

const headersOf = ({ headers }: Received) => headers as Record<string, string>; // single values

function notified(
  { url, events = ['run.ended'], storage, now, ...options }: Partial<Parameters<typeof testRuntime>[0]> & {
    readonly url: string;
    readonly events?: NonNullable<CreateRuntimeOptions['notify']>[number]['events'];
  },
) {
  const observed: ObservedEvent[] = [];
  const secrets = memorySecrets({
    'hook-new': { value: keys.new, origins: ['code'] },
    'hook-old': { value: keys.old, origins: ['code'] },
  });
  const runtime = testRuntime({
    ...scriptedModel(says('a secret answer'), says('two'), says('three')),
    storage: storage ?? memoryStorage({ ...(now && { now }) }),
    secrets,
    egress: denoEgress({ privateOrigins: [url] }),
    notify: [{
      id: 'desk',
      url: `${url}/hook`,
      secret: [{ id: 'hook-new' }, { id: 'hook-old' }],
      events,
      link: ({ id }) => `https://app.example/${String(id)}`,
    }],
    sinks: [(event) => void observed.push(event)],
    ...(now && { now }),
    ...options,
  });
  return { runtime, observed };
}

const deliveriesIn = (storage: Storage) => storage.list({ prefix: ['delivery'], limit: 10 });

describe('webhooks', () => {
  it('tell of an ended run, signed by both secrets of a rotation, without a text of it', async () => {
    const { url, received } = await receiver(200);
    const { runtime } = notified({ url });
    const { runId } = await runtime.start(runRequest(), me, {});
    await expect.poll(() => received.length).toBe(1);
    const [one] = received as [Received];
    for (const key of [keys.new, keys.old]) expect(new Webhook(key).verify(one.body, headersOf(one))).toBeTruthy();
    expect(() => new Webhook(`whsec_${btoa('x'.repeat(24))}`).verify(one.body, headersOf(one))).toThrow(
      'No matching signature found',
    );
    expect(() => new Webhook(keys.new).verify(one.body.replace('completed', 'failed'), headersOf(one))).toThrow(
      'No matching signature found',
    );
    expect(JSON.parse(one.body)).toMatchObject({
      type: 'run.ended',
      timestamp: expect.stringMatching(/Z$/),
      data: {
        id: runId,
        kind: 'run',
        agentId: 'helper',
        subject: 'local',
        state: 'completed',
        link: `https://app.example/${runId}`,
      },
    });
    expect(one.body).not.toContain('secret answer');
  });

  it('come again after 5 s, 5 min and longer, with the same id, from whichever process lives', async () => {
    const { url, received } = await receiver(500, 302, 503, 204);
    const clock = testClock(Date.now());
    const storage = memoryStorage({ now: clock.now });
    const first = notified({ url, storage, now: clock.now });
    await first.runtime.start(runRequest(), me, {});
    await expect.poll(() => received.length).toBe(1);
    await expect.poll(async () => ((await deliveriesIn(storage))[0]?.value as { busyUntil?: number })?.busyUntil)
      .toBeUndefined();
    await first.runtime.close();
    const second = notified({ url, storage, now: clock.now });
    for (const [count, waitMs] of [[2, 5_000], [3, 300_000], [4, 1_800_000]] as const) {
      clock.advance(waitMs - 1);
      expect(await second.runtime.sweep()).toBe(0);
      clock.advance(1);
      expect(await second.runtime.sweep()).toBe(1);
      expect(received).toHaveLength(count);
    }
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(await deliveriesIn(storage)).toEqual([]);
    expect(await storage.list({ prefix: ['due'], limit: 10 })).toEqual([]);
  });

  it('are given up after eight tries, and at once where the receiver is gone for good', async () => {
    for (const [status, tries] of [[500, 8], [410, 1]] as const) {
      const { url, received } = await receiver(status);
      const clock = testClock(Date.now());
      const { runtime, observed } = notified({ url, now: clock.now });
      await runtime.start(runRequest(), me, {});
      const failed = () => observed.filter(({ action }) => action === 'notify.failed');
      for (let sweeps = 0; sweeps < 60 && failed().length === 0; sweeps++) {
        await expect.poll(async () => (clock.advance(3_600_000), await runtime.sweep())).toBeLessThan(2);
      }
      expect(failed()).toMatchObject([{ target: { type: 'webhook', id: 'desk' }, status: 'error' }]);
      expect(received).toHaveLength(tries);
      await runtime.run(runRequest({ chat: { id: 'c2', messages: runRequest().chat.messages } }), me).then((stream) =>
        stream.cancel()
      );
      clock.advance(3_600_000);
      await runtime.sweep();
      await expect.poll(() => received.length).toBe(status === 410 ? 1 : 9);
    }
  });

  it('survive a process that dies while it sends: the next one sends the same', async () => {
    const { url, received } = await receiver(200);
    const clock = testClock(Date.now());
    const storage = memoryStorage({ now: clock.now });
    let isDead = false;
    const dying: Storage = {
      ...storage,
      // Dies after the claim of the try: what was sent is not recorded.
      commit: (changes) =>
        isDead && changes.some(({ key, value }) => key[0] === 'delivery' && value === undefined)
          ? new Promise(() => undefined)
          : storage.commit(changes),
    };
    const first = notified({ url, storage: dying, now: clock.now });
    isDead = true;
    await first.runtime.start(runRequest(), me, {});
    await expect.poll(() => received.length).toBe(1);
    const second = notified({ url, storage, now: clock.now });
    expect(await second.runtime.sweep()).toBe(0); // the first may still be at it
    clock.advance(30_000);
    expect(await second.runtime.sweep()).toBe(1);
    expect(received[1]?.headers['webhook-id']).toBe(received[0]?.headers['webhook-id']);
    expect(await deliveriesIn(storage)).toEqual([]);
  });

  it('tell once of a budget that is nearly used, and of a paused schedule', async () => {
    const { url, received } = await receiver(200);
    const clock = testClock(Date.now());
    const { runtime } = notified({
      url,
      now: clock.now,
      events: ['budget.warn', 'budget.spent', 'schedule.paused'],
      budgets: [{ id: 'day', of: 'subject', every: 'day', runs: 1 }],
    });
    const ada = createPrincipal({ ...me, subject: 'ada' });
    await runtime.start(runRequest(), ada, {});
    await expect(runtime.start(runRequest(), ada, {})).rejects.toMatchObject({ code: 'budget_exceeded' });
    await expect.poll(() => received.map(({ body }) => (JSON.parse(body) as { type: string }).type).toSorted()).toEqual(
      ['budget.spent', 'budget.warn'],
    );
    const { id } = await runtime.schedules.create({
      agentId: 'helper',
      name: 'n',
      message: 'm',
      when: { everyMs: 60_000 },
    }, ada);
    for (let minute = 0; minute < 5; minute++) {
      clock.advance(60_000);
      await runtime.sweep();
    }
    await expect.poll(() => received.length).toBe(3);
    expect(JSON.parse(received[2]!.body)).toMatchObject({
      type: 'schedule.paused',
      data: { scheduleId: id, subject: 'ada', reason: 'failures' },
    });
  });

  it('tell that somebody must decide, with the question only where that is wanted, and that it was decided', async () => {
    const { url, received } = await receiver(200);
    const wipe = defineTool({
      id: 'wipe',
      title: 'Wipe the disk',
      description: 'Wipes',
      input: v.object({ disk: v.string() }),
      approval: 'always',
      describe: () => ({ quote: 'disk of Ada' }),
      execute: () => 'wiped',
    });
    for (const detail of [false, true]) {
      received.length = 0;
      const { runtime } = notified({
        url,
        ...scriptedModel(callsTools({ tool: 'wipe', input: { disk: 'd1' } })),
        tools: [wipe],
        notify: [{
          id: 'desk',
          url: `${url}/hook`,
          secret: { id: 'hook-new' },
          events: ['inbox.opened', 'inbox.settled'],
          detail,
        }],
      });
      const chunks = await readAll(await runtime.run(runRequest(), me));
      await expect.poll(() => received.length, { timeout: 5_000 }).toBe(1);
      const opened = JSON.parse(received[0]!.body) as {
        type: string;
        data: { id: string; runId: string; title: string };
      };
      expect(opened).toMatchObject({
        type: 'inbox.opened',
        data: { kind: 'approval', title: 'Wipe the disk', subject: 'local', toolId: 'wipe' },
      });
      expect(received[0]!.body.includes('disk of Ada')).toBe(detail);
      expect(lastData(chunks, 'data-run')['state']).toBe('awaiting_approval');
      await runtime.decide(opened.data.runId, opened.data.id, { approved: false }, me);
      await expect.poll(() => received.length, { timeout: 5_000 }).toBe(2);
      expect(JSON.parse(received[1]!.body)).toMatchObject({
        type: 'inbox.settled',
        data: { id: opened.data.id, state: 'denied' },
      });
    }
  });

  it('say that a question has expired, and that one of a plan was answered', async () => {
    const { url, received } = await receiver(200);
    const clock = testClock();
    const asks = callsTools({ tool: 'note', input: {} });
    const storage = memoryStorage({ now: clock.now });
    const note = defineTool({
      id: 'note',
      description: 'Notes',
      input: v.object({}),
      approval: 'always',
      execute: () => 'noted',
    });
    const { runtime } = notified({
      ...scriptedModel(asks, says('noted'), asks),
      tools: [note],
      agent: { plans: true },
      events: ['inbox.settled'],
      now: clock.now,
      url,
      storage,
    });
    const { planId } = await runtime.planner.start(
      { goal: 'Note it', agentId: 'helper', allowHumanIntervention: true },
      me,
    );
    await runtime.planner.outcome(planId, me);
    const [{ id, seen }] = (await runtime.inbox.list(me)).items as [never];
    await runtime.inbox.decide([{ id, seen, approved: true }], me);
    await runtime.planner.outcome(planId, me);
    await readAll(await runtime.run(runRequest(), me));
    clock.advance(86_400_001);
    await runtime.sweep();
    await runtime.sweep();
    await expect.poll(() => received.map(({ body }) => (JSON.parse(body) as { data: { state: string } }).data.state))
      .toEqual(['answered', 'expired']);
  });

  it('need an egress and secrets, and receivers that can be told apart', () => {
    const one = { id: 'desk', url: 'https://desk.example/hook', secret: { id: 'k' }, events: ['run.ended'] as const };
    const model = scriptedModel(says('x'));
    const secrets = memorySecrets();
    const egress = denoEgress();
    const wrong: Partial<CreateRuntimeOptions>[] = [
      { notify: [one], secrets },
      { notify: [one], egress },
      { notify: [one, one], secrets, egress },
      { notify: [{ ...one, url: 'ftp://desk.example' }], secrets, egress },
      { notify: [{ ...one, events: [] }], secrets, egress },
    ];
    for (const options of wrong) {
      expect(() => testRuntime({ ...model, ...options })).toThrow(
        expect.objectContaining({ code: 'invalid_argument' }),
      );
    }
  });
});
