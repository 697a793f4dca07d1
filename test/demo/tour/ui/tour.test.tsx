import { afterEach, describe, expect, it, vi } from 'vitest';
import type { UIMessageChunk } from '../../../../src/contracts/ai-types.ts';
import { planTask, planView } from '../../../fixtures/page/plan-view.ts';
import { agents, mount, type Page } from '../../../fixtures/page/playground.tsx';

let page: Page;

afterEach(() => page.unmount());

const run: UIMessageChunk = { type: 'data-run', id: 'run_1', data: { runId: 'run_1', traceId: 'trace-1' } };
const converts: readonly UIMessageChunk[] = [
  { type: 'tool-input-available', toolCallId: 'c', toolName: 'convert_units', input: {} },
  { type: 'tool-output-available', toolCallId: 'c', output: 42 },
  { type: 'text-delta', id: 't', delta: '42' },
  { type: 'finish', finishReason: 'stop' },
];

const agentNamed = (id: string): typeof agents[number] => ({
  id,
  name: id,
  description: '',
  tools: [],
  suggestions: [],
});

async function says(progress: string): Promise<string> {
  return await vi.waitFor(() => {
    const said = page.all('tour-say')[0];
    expect(said?.dataset['progress']).toBe(progress);
    return said?.textContent ?? '';
  });
}

/** Takes the first stop. */
async function call(): Promise<void> {
  await page.click('tour-start');
  await vi.waitFor(() => expect(page.transport.sent.length).toBeGreaterThan(0));
  page.transport.write(run, ...converts);
  page.transport.close();
  await says('done');
}

describe('the tour', () => {
  it('sends a real message to the right agent, and offers the next stop when the thing has happened', async () => {
    page = await mount();
    await page.click('open-tour');
    expect(await says('ready')).toContain('agent');
    expect(page.all('tour-next')).toHaveLength(0);
    await page.click('tour-start');
    await vi.waitFor(() => expect(page.transport.sent[0]?.body).toEqual({ agentId: 'navigator' }));
    page.transport.write(run);
    await says('going');
    page.transport.write(...converts);
    page.transport.close();
    expect(await says('done')).toContain('convert_units');
    await vi.waitFor(() =>
      expect(document.querySelector('[data-tour-look]')?.getAttribute('data-testid')).toBe('tool-card')
    );
    await page.click('tour-next');
    expect(await says('ready')).toContain('notes');
    await vi.waitFor(() => expect(document.querySelector('[data-tour-look]') === null).toBe(true));
  });

  it('has a stop begun again whose run has failed', async () => {
    page = await mount();
    await page.click('open-tour');
    await page.click('tour-start');
    await vi.waitFor(() => expect(page.transport.sent).toHaveLength(1));
    page.transport.write(run, { type: 'error', errorText: 'It sank' });
    page.transport.close();
    expect(await says('missed')).toContain('Start again');
    expect(page.all('tour-next')).toHaveLength(0);
    await call();
    await page.find('tour-next');
  });

  it('can be left, and continued at the next visit', async () => {
    page = await mount();
    await page.click('open-tour');
    await call();
    await page.click('tour-next');
    await page.click('tour-leave');
    await vi.waitFor(() => expect(page.all('tour')).toHaveLength(0));
    const kept: unknown = JSON.parse(page.notes.get('pinnace.tour') ?? 'null');
    page.unmount();
    page = await mount({ notes: { tour: kept } });
    expect((await page.find('open-tour')).textContent).toContain('stop 2 of 9');
    await page.click('open-tour');
    await vi.waitFor(() => expect(page.all('tour-step').map((step) => step.dataset['visited'])[0]).toBe('true'));
    expect(page.all('tour-step')[1]?.getAttribute('aria-current')).toBe('step');
    await page.click('tour-skip');
    await page.click('tour-skip');
    expect(await says('ready')).toContain('tree');
  });

  it('says why a stop cannot be begun: another model answers', async () => {
    page = await mount();
    await page.playground.settings.useEndpoint({ baseUrl: 'https://models.example/v1', model: 'm' });
    await page.click('open-tour');
    expect((await page.find('tour-obstacle')).textContent).toContain('embedded model');
    expect(await page.find('tour-start')).toHaveProperty('disabled', true);
    await page.playground.settings.useRehearsal();
    await vi.waitFor(() => expect(page.all('tour-start')[0]).toHaveProperty('disabled', false));
  });

  it('starts again from the end, and deletes the chats that it has created', async () => {
    page = await mount();
    await page.click('open-tour');
    await call();
    page.all('tour-step')[8]?.click();
    await page.click('tour-skip');
    await says('end');
    expect(page.all('chat-item')).toHaveLength(1);
    await page.click('tour-remove');
    await vi.waitFor(() => expect(page.all('chat-item')).toHaveLength(0));
    await page.click('tour-again');
    expect(await says('ready')).toContain('agent');
    expect(page.all('tour-step').some((step) => step.dataset['visited'] === 'true')).toBe(false);
  });

  it('stops reading by itself in the middle of a stream, so that a slow visitor does not miss it', async () => {
    page = await mount({ agents: [...agents, agentNamed('drill')], notes: { tour: { at: 7, chats: {}, seen: [] } } });
    await page.click('open-tour');
    await page.click('tour-start');
    await vi.waitFor(() => expect(page.transport.sent).toHaveLength(1));
    page.transport.write(run, { type: 'text-delta', id: 't', delta: 'ahoy '.repeat(200) });
    await page.find('left-reading');
    expect(await says('yours')).toContain('continues in the worker');
    expect((await page.find('tour-act')).textContent).toBe('Resume reading');
  });

  it('ends the worker in the middle of a plan, and says after the reload how the plan goes on', async () => {
    page = await mount({
      agents: [...agents, agentNamed('commodore')],
      notes: { tour: { at: 8, chats: {}, seen: [] } },
    });
    await page.click('open-tour');
    await page.click('tour-start');
    await vi.waitFor(() => expect(page.transport.sent[0]?.body).toMatchObject({ agentId: 'commodore' }));
    const view = planView([planTask('1', { status: 'waiting' }), planTask('1-1', { status: 'ready' })]);
    page.transport.write(run, { type: 'data-plan', id: view.planId, data: view });
    await says('yours');
    await page.click('tour-act');
    expect(page.crashed).toEqual(['#/tour']);
    const note: unknown = JSON.parse(page.notes.get('pinnace.tour') ?? 'null');
    expect(note).toMatchObject({ pulled: page.playground.chats.current.value.id });
  });

  it('has the reader of a stream leave, and read on', async () => {
    page = await mount();
    page.playground.chats.send('Hi');
    await vi.waitFor(() => expect(page.transport.sent).toHaveLength(1));
    page.transport.write(run, { type: 'text-delta', id: 't', delta: 'Half' });
    await vi.waitFor(() => expect(page.all('message').at(-1)?.textContent).toContain('Half'));
    page.playground.chats.current.value.run.value?.leave();
    expect((await page.find('left-reading')).textContent).toContain('after chunk 2');
    await page.click('read-on');
    await vi.waitFor(() => expect(page.transport.resumed).toMatchObject([{ runId: 'run_1', after: 2 }]));
    page.transport.write({ type: 'text-delta', id: 't', delta: ' and half' }, { type: 'finish', finishReason: 'stop' });
    page.transport.close();
    await vi.waitFor(() => expect(page.all('message').at(-1)?.textContent).toContain('Half and half'));
    expect(page.all('left-reading')).toHaveLength(0);
  });
});
