import { afterEach, describe, expect, it, vi } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { PinnaceError } from '../../../../src/base/errors.ts';
import type { PlanView } from '../../../../src/planner/index.ts';
import { planQuestion, planTask, planView } from '../../../fixtures/page/plan-view.ts';
import { mount, type Page, send } from '../../../fixtures/page/playground.tsx';

let page: Page;

afterEach(() => page.unmount());

const root = planTask('1', { status: 'waiting' });
const atWork = planTask('1-1', { status: 'ready', agentId: 'navigator', attempt: 2 });
const later = planTask('1-2', { status: 'waiting', after: ['1-1'] });
const question = planQuestion({ options: ['Oslo', 'Rome'] });

function show(view: PlanView): void {
  page.transport.write({ type: 'data-plan', id: view.planId, data: view });
}

async function untilSent(count: number): Promise<void> {
  await vi.waitFor(() => expect(page.transport.sent).toHaveLength(count));
}

async function start(storage = memoryStorage()): Promise<void> {
  page = await mount({ storage });
  await page.playground.settings.useEndpoint({ baseUrl: 'https://models.example/v1', model: 'small', apiKey: 'k' });
  page.playground.chats.start('pilot');
  await send(page, 'Plan a passage');
  page.transport.write({ type: 'data-run', data: { runId: 'run-1', state: 'running' } });
}

/** A plan that waits for a person. */
async function suspend(questions: PlanView['questions'] = [question], storage = memoryStorage()): Promise<void> {
  await start(storage);
  show(planView([root, atWork, later]));
  rest(questions);
  await page.find('awaiting');
}

/** The run ends, for its plan waits. */
function rest(questions: PlanView['questions'] = [question]): void {
  show(planView([root, atWork, later], { state: 'suspended', seq: 2, questions }));
  page.transport.write({ type: 'data-run', data: { runId: 'run-1', state: 'suspended' } }, { type: 'finish' });
  page.transport.close();
}

/** The run that follows ends the plan. */
function finish(): void {
  const tasks = ['1', '1-1', '1-2'].map((address) => planTask(address));
  show(planView(tasks, { state: 'done', seq: 9 }));
  page.transport.write({ type: 'text-delta', id: 't', delta: 'By Oslo' }, { type: 'finish', finishReason: 'stop' });
  page.transport.close();
}

const stateOf = (): string | undefined => page.all('plan')[0]?.dataset['state'];

describe('the plan of an answer', () => {
  it('shows each task: how it stands, who does it, what it comes after, why it failed', async () => {
    await start();
    const error = { code: 'deadline_exceeded', retryable: false } as const;
    show(planView([root, atWork, later, planTask('1-3', { status: 'failed', error })], { omitted: 4 }));
    await page.click('plan-view-list');
    await page.find('plan-task');
    const tasks = page.all('plan-task');
    expect(tasks.map(({ dataset }) => [dataset['address'], dataset['status']])).toEqual([
      ['1', 'waiting'],
      ['1-1', 'ready'],
      ['1-2', 'waiting'],
      ['1-3', 'failed'],
    ]);
    const texts = tasks.map(({ textContent }) => textContent);
    expect(texts[0]).toContain('Waiting for sub-tasks');
    expect(texts[1]).toMatch(/Working.*Navigator.*attempt 2/);
    expect(texts[2]).toMatch(/Waiting for a free slot.*after 1-1/);
    expect(texts[3]).toMatch(/Failed.*2\.0 s.*deadline_exceeded/);
    expect(tasks[1]?.closest('ul')?.parentElement?.tagName).toBe('LI');
    expect((await page.find('plan')).textContent).toContain('and 4 more tasks');
    expect((await page.find('plan')).textContent).toContain('1,200 tokens');
  });

  it('shows the tasks as a graph: what leads to each, who does it, what it took, how it stands', async () => {
    await start();
    const used = { tokens: 340, cost: 0 };
    show(planView([root, atWork, later, planTask('1-3', { agentId: 'mate', used })]));
    await page.find('plan-graph');
    const looks = page.all('plan-node').map(({ dataset }) => [dataset['address'], dataset['look']]);
    expect(looks).toEqual([['1', 'waits'], ['1-1', 'work'], ['1-2', 'waits'], ['1-3', 'done']]);
    expect(page.all('plan-node')[3]?.textContent).toMatch(/Goal of 1-3, DoneMate2\.0 s340 tokens/);
    expect(page.all('plan-way').map(({ dataset: { kind, from, to } }) => `${kind} ${from} ${to}`)).toEqual(
      ['parent 1 1-1', 'parent 1 1-2', 'after 1-1 1-2', 'parent 1 1-3'],
    );
    const marks = page.all('plan-node').map((node) => node.querySelector('path')?.getAttribute('d'));
    expect(marks[1]).toBeUndefined(); // it turns
    expect(new Set(marks).size).toBe(3);
    page.all('plan-node')[2]?.click();
    await vi.waitFor(() =>
      expect(page.all('plan-chosen')[0]?.textContent).toMatch(/Goal of 1-2.*Waiting for a free slot.*after 1-1/)
    );
  });

  it('is read with the keyboard, as one stop in the order of the page', async () => {
    await start();
    show(planView([root, planTask('1-1'), planTask('1-1-1'), planTask('1-2')]));
    await page.find('plan-graph');
    const focused = (): string | undefined => (document.activeElement as HTMLElement).dataset['address'];
    const stops = (): (string | undefined)[] =>
      page.all('plan-node').filter(({ tabIndex }) => tabIndex === 0).map(({ dataset }) => dataset['address']);
    expect(stops()).toEqual(['1']);
    page.all('plan-node')[0]?.focus();
    const seen = ['ArrowRight', 'ArrowRight', 'ArrowDown', 'ArrowUp', 'ArrowLeft', 'ArrowLeft', 'End'].map((key) => {
      page.press(key);
      return focused();
    });
    expect(seen).toEqual(['1-1', '1-1-1', '1-2', '1-1-1', '1-1', '1', '1-2']);
    await vi.waitFor(() => expect(stops()).toEqual(['1-2']));
  });

  it('leaves each task of the graph in its place when more come', async () => {
    await start();
    show(planView([root, atWork]));
    await page.find('plan-graph');
    const placeOf = (address: string) =>
      page.all('plan-node').find(({ dataset }) => dataset['address'] === address)?.style.transform;
    const before = placeOf('1-1');
    expect(before).toMatch(/translate/);
    show(planView([root, atWork, later], { seq: 2 }));
    await vi.waitFor(() => expect(placeOf('1-2')).toBeDefined());
    expect(placeOf('1-1')).toBe(before);
  });

  it('is paused, and goes on', async () => {
    await start();
    show(planView([root, atWork]));
    await page.click('plan-pause');
    show(planView([root, atWork], { seq: 2, paused: true }));
    await vi.waitFor(() => expect(page.all('plan-pause')[0]?.textContent).toBe('Resume'));
    expect(page.all('plan-state')[0]?.textContent).toBe('paused');
    await page.click('plan-pause');
    expect(page.steered).toEqual([['plan_1', 'pause'], ['plan_1', 'resume']]);
  });

  it('is cancelled while it waits', async () => {
    await suspend();
    await page.click('plan-cancel');
    await vi.waitFor(() => expect(stateOf()).toBe('cancelled'));
    expect(page.steered).toEqual([['plan_1', 'cancel']]);
    expect(page.all('plan-question')).toHaveLength(0);
    expect((await page.find('stopped')).textContent).toBe('You stopped this answer.');
  });

  it('that waits is cancelled when another message is sent, or the chat is deleted', async () => {
    await suspend();
    await send(page, 'Never mind');
    await untilSent(2);
    expect(page.steered).toEqual([['plan_1', 'cancel']]);
    await vi.waitFor(() => expect(page.all('plan-question')).toHaveLength(0));
    page.unmount();
    await suspend();
    await page.playground.chats.remove(page.playground.chats.current.value.id);
    expect(page.steered).toEqual([]); // it can be brought back
    await page.click('close-removed');
    expect(page.steered).toEqual([['plan_1', 'cancel']]);
  });
});

describe('a question of a plan', () => {
  it('that wants something else than a text is answered with what the text reads as', async () => {
    await suspend([planQuestion()]);
    await page.type('plan-text', '{"berth": 4}');
    page.transport.refuseNext(new PinnaceError('invalid_argument', 'Cannot read the answer: must be an object'));
    await vi.waitFor(() => expect(page.all('plan-send')[0]).toHaveProperty('disabled', false));
    await page.click('plan-send');
    await untilSent(2);
    expect(page.transport.replied[0]).toMatchObject({ answer: { berth: 4 } });
  });

  it.each([
    ['approve', { approved: true }, 'You approved this call'],
    ['deny', { approved: false, reason: 'Too dear' }, 'You denied this call: Too dear'],
  ])('about a call takes %s', async (button, answer, said) => {
    await suspend([planQuestion({ kind: 'approval', question: 'Call Book\nberth: 4' })]);
    if (button === 'deny') await page.type('deny-reason', 'Too dear');
    await page.click(button);
    await untilSent(2);
    expect(page.transport.replied[0]).toMatchObject({ answer });
    expect((await page.find('plan-said')).textContent).toBe(said);
  });

  it('about a lost call takes what became of it', async () => {
    await suspend([planQuestion({ kind: 'lost_call' })]);
    page.all('plan-option').find(({ textContent }) => textContent === 'It was done')?.click();
    await untilSent(2);
    expect(page.transport.replied[0]).toMatchObject({ answer: { decision: 'done' } });
  });

  it('can be answered while others work, and then nothing is asked for anew', async () => {
    await start();
    show(planView([root, atWork, later], { questions: [question] }));
    await page.click('plan-option');
    await vi.waitFor(() => expect(page.transport.replied).toHaveLength(1));
    finish();
    await vi.waitFor(() => expect(stateOf()).toBe('done'));
    expect(page.transport.sent).toHaveLength(1);
  });

  it('stays open when the answer did not arrive, and says why', async () => {
    await suspend();
    page.transport.refuseNext(new PinnaceError('unavailable', 'Cannot reach the endpoint'));
    await page.click('plan-option');
    expect((await page.find('plan-problem')).textContent).toContain('Cannot reach the endpoint');
    await page.click('plan-option');
    await untilSent(2);
  });

  it('that was answered elsewhere shows how the plan went on', async () => {
    await suspend();
    page.transport.refuseNext(new PinnaceError('already_decided', 'No'));
    await page.click('plan-option');
    await untilSent(2);
    expect((await page.find('plan-said')).textContent).toContain('already answered');
  });

  it('still waits after a reload, and so does a plan that was cut off', async () => {
    const storage = memoryStorage();
    await suspend([question], storage);
    const chatId = page.playground.chats.current.value.id;
    await vi.waitFor(async () => {
      const [, kept] = await storage.list({ prefix: ['message', chatId], limit: 2 });
      expect(kept?.value).toMatchObject({ outcome: { type: 'waiting' } });
    });
    page.unmount();
    page = await mount({ storage, chatId });
    expect((await page.find('retry')).textContent).toBe('Continue');
    await page.click('plan-option');
    await untilSent(1);
    expect(page.transport.replied).toEqual([{ runId: 'run-1', askId: 'ask-1', answer: 'Oslo' }]);
    show(planView([root, atWork], { seq: 5 }));
    await vi.waitFor(() => expect(page.all('plan-node')).toHaveLength(2));
    page.playground.chats.saveRunning();
    await vi.waitFor(async () => {
      const [, kept] = await storage.list({ prefix: ['message', chatId], limit: 2 });
      expect(kept?.value).toMatchObject({ outcome: { type: 'running' }, parts: [{ view: { seq: 5 } }] });
    });
    page.unmount();
    page = await mount({ storage, chatId });
    // The run that follows the plan was not named yet: the one that has asked is read again.
    await vi.waitFor(() => expect(page.transport.resumed).toMatchObject([{ runId: 'run-1', after: 0 }]));
    rest();
    await untilSent(1);
    expect(page.transport.sent[0]?.body).toEqual({ agentId: 'pilot', planner: { planId: 'plan_1' } });
    expect((await page.find('plan-said')).textContent).toContain('You answered: Oslo');
  });
});
