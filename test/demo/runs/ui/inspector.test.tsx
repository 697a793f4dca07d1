import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Prompt } from '../../../../demo/control/runs-control.ts';
import { writeRunFile } from '../../../../demo/runs/state/run-file.ts';
import { type FakeInspector, fakeInspector, recordOf } from '../../../fixtures/page/inspector.ts';
import { mount, type Page, send } from '../../../fixtures/page/playground.tsx';
import { savedFiles } from '../../../fixtures/page/saved-files.ts';
import { emittedRun, runTrace } from '../../../fixtures/run-events.ts';

const tools = {
  digest: 'a1b2',
  tools: [
    { id: 'calculator' },
    { id: 'convert_units' },
    { id: 'fetch_url', excluded: 'not_allowed' },
    { id: 'old_tool', excluded: 'disabled' },
    { id: 'notes_add', excluded: 'not_allowed' },
  ],
};
const said = (text: string) => ({ role: 'user', parts: [{ type: 'text', text }] }) as const;
const system = { role: 'system', parts: [{ type: 'text', text: 'You are Navigator.' }] } as const;

let page: Page;

afterEach(() => page.unmount());

/** Opens the emitted run, or another. */
async function openRun(host: FakeInspector): Promise<void> {
  page = await mount({ inspector: host.control });
  await page.click('open-runs');
  await page.click('run-row');
  await page.find('run-view');
}

const text = (testId: string): string | undefined => page.all(testId)[0]?.textContent ?? undefined;
const names = (): (string | undefined)[] => page.all('span-row').map(({ dataset }) => dataset['name']);

function press(testId: string, key: string, init?: KeyboardEventInit): void {
  page.all(testId)[0]?.focus();
  page.press(key, init);
}

async function chooseFile(content: string | Blob): Promise<void> {
  const input = await page.find('run-file');
  const file = new File([content], 'run.json');
  Object.defineProperty(input, 'files', { value: [file], configurable: true });
  input.dispatchEvent(new Event('change', { bubbles: true }));
}

describe('the list of runs', () => {
  it('says so when there are none, and when they are not stored', async () => {
    page = await mount({ inspector: fakeInspector({ isStored: false }).control });
    await page.click('open-runs');
    await page.find('runs-empty');
    expect(text('runs-unkept')).toContain('lost when the page closes');
    expect(page.all('runs-erase')).toEqual([]);
  });

  it('calls a fork after the chat of the run that it forks', async () => {
    const record = recordOf(emittedRun());
    const fork = { ...record, head: { ...record.head, traceId: 'b'.repeat(32), runId: 'run_2', forkOf: 'run_1' } };
    page = await mount({ inspector: fakeInspector({ records: [fork, record] }).control });
    await page.click('open-runs');
    await vi.waitFor(() => expect(text('run-row')).toContain('Fork of “Run of '));
    page.press('Escape');
    await vi.waitFor(() => expect(page.all('runs')).toEqual([]));
    await send(page, 'How far is it?');
    page.transport.write({
      type: 'data-run',
      id: 'run_1',
      data: { runId: 'run_1', traceId: runTrace, state: 'running' },
    });
    await page.find('inspect');
    await page.click('open-runs');
    await vi.waitFor(() => expect(text('run-row')).toContain('Fork of “How far is it?”'));
  });

  it('shows the state and the cost of each run', async () => {
    page = await mount({ inspector: fakeInspector({ records: [recordOf(emittedRun())] }).control });
    await page.click('open-runs');
    await page.find('run-row');
    expect(text('run-row')).toContain('Navigator');
    expect(text('run-row')).toContain('1.0 s · 2 model calls · 2 tool calls · 520 tokens · 1 failure');
  });

  it('shows a run that starts meanwhile', async () => {
    const host = fakeInspector();
    page = await mount({ inspector: host.control });
    await page.click('open-runs');
    await page.find('runs-empty');
    const { head, events } = recordOf(emittedRun().slice(0, 3));
    host.emit({ head, from: 0, events });
    await page.find('run-row');
    expect(text('run-row')).toContain('running');
  });

  it('erases all runs, and asks first', async () => {
    const host = fakeInspector({ records: [recordOf(emittedRun())] });
    page = await mount({ inspector: host.control });
    await page.click('open-runs');
    await page.click('runs-erase');
    expect(host.runs.size).toBe(1);
    await page.click('runs-erase-sure');
    await page.find('runs-empty');
    expect(host.runs.size).toBe(0);
    expect(page.playground.announcement.value).toBe('All runs are erased');
  });

  it('makes way for a chat', async () => {
    await openRun(fakeInspector({ records: [recordOf(emittedRun())] }));
    await page.click('new-chat');
    await vi.waitFor(() => expect(page.all('runs')).toEqual([]));
  });
});

describe('the way from an answer', () => {
  it('opens its run, and back to where the person was', async () => {
    page = await mount({ inspector: fakeInspector({ records: [recordOf(emittedRun())] }).control });
    await send(page, 'Hello');
    page.transport.write(
      { type: 'data-run', id: 'run_1', data: { runId: 'run_1', traceId: runTrace, state: 'running' } },
      { type: 'text-delta', id: 't', delta: 'Hi' },
    );
    const live = await page.find('inspect');
    expect(page.all('answer-footer')).toEqual([]); // it goes on
    live.click();
    await page.find('run-view');
    await page.click('runs-back');
    page.transport.write({ type: 'finish', finishReason: 'stop' });
    page.transport.close();
    await page.find('answer-footer');
    await page.click('inspect');
    await page.find('run-view');
  });

  it('opens the run that has begun the plan which a later run follows', async () => {
    const planned = recordOf(emittedRun());
    const head = { ...planned.head, planId: 'plan_1' };
    const { head: following, events } = recordOf(emittedRun({ traceId: 'f'.repeat(32) }).slice(0, 1));
    const records = [{ ...planned, head }, { head: following, events }];
    page = await mount({ inspector: fakeInspector({ records }).control });
    page.playground.screen.value = { name: 'run', traceId: following.traceId, planId: 'plan_1' };
    await page.find('run-view');
    expect(names()).toHaveLength(7);
    page.playground.screen.value = { name: 'run', traceId: following.traceId, planId: 'plan_2' };
    await vi.waitFor(() => expect(names()).toEqual(['run']));
  });

  it('says that a run does not exist anymore', async () => {
    page = await mount({ inspector: fakeInspector().control });
    page.playground.screen.value = { name: 'run', traceId: 'x' };
    await page.find('runs-problem');
    expect(text('runs-problem')).toBe('Cannot show the run: it is gone.');
  });

  const via = 'https://agents.example.com/v1';

  it.each(
    [
      ['forbidden', 'You cannot see this run'],
      ['not_found', 'no longer stores its events'],
      ['unavailable', 'Nobody answers.'],
    ] as const,
  )('says why a run at an endpoint cannot be shown: %s', async (code, why) => {
    page = await mount({ inspector: fakeInspector().control });
    page.remote.run = async () => ({ ok: false, error: { code, message: 'Nobody answers', retryable: false } });
    page.playground.screen.value = { name: 'run', traceId: runTrace, via };
    await page.find('run-elsewhere');
    for (const part of ['agents.example.com', why, runTrace]) expect(text('run-elsewhere')).toContain(part);
  });

  it('says so where this page cannot be certified for the endpoint', async () => {
    page = await mount({ inspector: fakeInspector().control, noIssuer: new Error('No issuer') });
    page.playground.screen.value = { name: 'run', traceId: runTrace, via };
    await page.find('run-elsewhere');
    expect(text('run-elsewhere')).toContain(runTrace);
  });

  it('shows a run at an endpoint as it goes on, and lets go of it when it is left', async () => {
    page = await mount({ inspector: fakeInspector().control });
    const asked: Parameters<typeof page.remote.run>[] = [];
    const events = emittedRun();
    page.remote.run = async (...given) => {
      asked.push(given);
      return { ok: true, value: recordOf(events.slice(0, 3)) };
    };
    page.playground.screen.value = { name: 'run', traceId: runTrace, via, planId: 'plan_1' };
    await page.find('run-view');
    expect(names()).toEqual(['run', 'step', 'model.call']);
    expect(text('run-summary')).toContain('at an endpoint');
    const [what, { onNews, signal }] = asked[0]!;
    expect(what).toEqual({ traceId: runTrace, planId: 'plan_1' });
    onNews({ head: recordOf(events).head, from: 3, events: events.slice(3) });
    await vi.waitFor(() => expect(names()).toHaveLength(7));
    expect(page.all('run-view')[0]?.dataset['live']).toBe('false');
    await page.click('run-tab-prompt');
    expect(page.all('run-view')[0]?.textContent).toContain('Prompts stay at the endpoint');
    expect(signal.aborted).toBe(false);
    page.playground.screen.value = { name: 'runs', where: 'page', section: 'list' };
    await page.find('runs-empty');
    expect(signal.aborted).toBe(true);
  });
});

describe('the timeline of a run', () => {
  it('shows its spans one inside the other, with how they stand', async () => {
    await openRun(fakeInspector({ records: [recordOf(emittedRun())] }));
    expect(names()).toEqual(['run', 'step', 'model.call', 'tool.call', 'tool.call', 'step', 'model.call']);
    const levels = page.all('span-row').map((row) => row.getAttribute('aria-level'));
    expect(levels).toEqual(['1', '2', '3', '3', '3', '2', '3']);
    expect(page.all('span-row')[4]?.textContent).toBe('failed tool.call convert_units 100 ms, starts at 400 ms');
    expect(text('run-summary')).toContain('done');
    expect(text('run-summary')).toContain('520 tokens');
  });

  it('is walked, closed and opened by keys', async () => {
    await openRun(fakeInspector({ records: [recordOf(emittedRun())] }));
    const selected = () => page.all('span-row').findIndex((row) => row.getAttribute('aria-selected') === 'true');
    press('waterfall', 'ArrowDown');
    await vi.waitFor(() => expect(selected()).toBe(1));
    const list = await page.find('waterfall');
    expect(list.getAttribute('aria-activedescendant')).toBe(page.all('span-row')[1]?.id);
    press('waterfall', 'ArrowLeft');
    await vi.waitFor(() => expect(names()).toEqual(['run', 'step', 'step', 'model.call']));
    press('waterfall', 'ArrowRight');
    await vi.waitFor(() => expect(names().length).toBe(7));
    press('waterfall', 'ArrowRight');
    await vi.waitFor(() => expect(selected()).toBe(2));
    press('waterfall', 'ArrowLeft');
    await vi.waitFor(() => expect(selected()).toBe(1));
    press('waterfall', 'End');
    await vi.waitFor(() => expect(selected()).toBe(6));
  });

  it('shows the details of a span', async () => {
    await openRun(fakeInspector({ records: [recordOf(emittedRun())] }));
    page.all('span-row')[4]?.click();
    await page.find('span-details');
    expect(text('span-details')).toContain('invalid_argument: Invalid argument');
    expect(text('span-details')).toContain('Input size30 characters');
    page.all('span-row')[2]?.click();
    await vi.waitFor(() => expect(text('span-details')).toContain('Input tokens200'));
    expect(text('span-details')).toContain('Time to first token80 ms');
    expect(text('span-details')).toContain('scripted demo');
  });

  it('shows less time and all of it again', async () => {
    await openRun(fakeInspector({ records: [recordOf(emittedRun())] }));
    expect((await page.find('zoom-whole')).hasAttribute('disabled')).toBe(true);
    press('waterfall', '+');
    await vi.waitFor(() => expect(page.all('zoom-whole')[0]?.hasAttribute('disabled')).toBe(false));
    press('waterfall', 'ArrowRight', { shiftKey: true });
    press('waterfall', '0');
    await vi.waitFor(() => expect(page.all('zoom-whole')[0]?.hasAttribute('disabled')).toBe(true));
  });

  it('is a table as well', async () => {
    await openRun(fakeInspector({ records: [recordOf(emittedRun())] }));
    await page.click('as-table');
    const table = await page.find('span-table');
    const cells = [...table.querySelectorAll('tbody tr')].map((row) =>
      [...row.children].map((cell) => cell.textContent)
    );
    expect(cells[4]).toEqual(['2', 'tool.call', 'convert_units', 'failed: invalid_argument', '400 ms', '100 ms']);
    expect(cells).toHaveLength(7);
  });

  it('grows while the run goes on', async () => {
    const all = emittedRun();
    const host = fakeInspector({ records: [recordOf(all.slice(0, 3))] });
    await openRun(host);
    expect((await page.find('run-view')).dataset['live']).toBe('true');
    expect(names()).toEqual(['run', 'step', 'model.call']);
    const { head } = recordOf(all);
    host.emit({ head: { ...head, durationMs: undefined, status: 'pending' }, from: 3, events: all.slice(3, 6) });
    await vi.waitFor(() => expect(names().length).toBe(5));
    host.emit({ head, from: 6, events: all.slice(6) });
    await vi.waitFor(() => expect(names().length).toBe(7));
    expect(page.all('run-view')[0]?.dataset['live']).toBe('false');
  });

  it('says when there are no events', async () => {
    const record = { ...recordOf(emittedRun()), events: [] };
    await openRun(fakeInspector({ records: [record] }));
    expect((await page.find('timeline-empty')).textContent).toBe('This run has no events.');
  });
});

describe('the events of a run', () => {
  it('are found by action and words, and shown whole', async () => {
    await openRun(fakeInspector({ records: [recordOf(emittedRun())] }));
    await page.click('run-tab-events');
    await page.find('event-list');
    expect(text('event-count')).toBe('14 events');
    const select = await page.find('event-action') as HTMLSelectElement; // safe enough: what has no value fails the test
    expect([...select.options].map(({ textContent }) => textContent)).toContain('tool.call (4)');
    select.value = 'tool.call';
    select.dispatchEvent(new Event('change', { bubbles: true }));
    await vi.waitFor(() => expect(text('event-count')).toBe('4 events'));
    await page.type('event-text', 'convert');
    await vi.waitFor(() => expect(text('event-count')).toBe('2 events'));
    page.all('event-row')[1]?.click();
    await page.find('event-details');
    expect(text('event-details')).toContain('"code": "invalid_argument"');
    await page.type('event-text', 'nowhere');
    await vi.waitFor(() => expect(text('event-count')).toBe('No results'));
  });

  it('are walked by keys', async () => {
    await openRun(fakeInspector({ records: [recordOf(emittedRun())] }));
    await page.click('run-tab-events');
    await page.find('event-list');
    press('event-list', 'ArrowDown');
    press('event-list', 'ArrowDown');
    await vi.waitFor(() => expect(text('event-details')).toContain('Event 2 of 14'));
  });
});

describe('the tools of a run', () => {
  it('are listed, and each that was left out with its one reason', async () => {
    await openRun(fakeInspector({ records: [recordOf(emittedRun(), tools)] }));
    await page.click('run-tab-tools');
    await page.find('tools-view');
    expect(text('tools-view')).toContain('2 tools available');
    expect(text('tools-view')).toContain('3 tools not available');
    const reasons = page.all('left-out').map((group) => [group.dataset['reason'], group.textContent]);
    expect(reasons).toEqual([
      ['disabled', 'disabled 1old_tool'],
      ['not_allowed', 'not on the allowlist 2fetch_urlnotes_add'],
    ]);
  });

  it('may be unknown', async () => {
    await openRun(fakeInspector({ records: [recordOf(emittedRun())] }));
    await page.click('run-tab-tools');
    expect((await page.find('tools-unknown')).textContent).toContain('unknown');
  });
});

describe('the prompts of a run', () => {
  const events = emittedRun();
  const spanIds = events.filter(({ action, status }) => action === 'model.call' && status === 'pending')
    .map(({ spanId = '' }) => spanId);
  const prompts = [
    [system, said('What is 6 * 7?')],
    [
      system,
      said('What is 6 * 7?'),
      {
        role: 'assistant',
        parts: [{ type: 'call', tool: 'calculator', toolCallId: 'c', input: { expression: '6*7' } }],
      },
      { role: 'tool', parts: [{ type: 'result', tool: 'calculator', toolCallId: 'c', output: { value: 42 } }] },
    ],
  ].map((messages, i): Prompt => ({
    spanId: spanIds[i] ?? '',
    model: 'rehearsal',
    messages: messages as Prompt['messages'],
    tools: [{ name: 'calculator', description: 'Calculates', input: { type: 'object' } }],
    settings: { temperature: 0.5 },
  }));

  it('are shown as the model saw them, call by call, with what is new', async () => {
    await openRun(fakeInspector({ records: [recordOf(events)], prompts }));
    await page.click('run-tab-prompt');
    await page.find('prompt-view');
    expect(text('prompt-system')).toBe('You are Navigator.');
    expect(page.all('prompt-message').map(({ dataset }) => dataset['role'])).toEqual(['user']);
    expect(text('prompt-tool')).toContain('calculator');
    const choice = await page.find('prompt-choice') as HTMLSelectElement; // as above
    choice.value = '1';
    choice.dispatchEvent(new Event('change', { bubbles: true }));
    await page.find('prompt-known');
    expect(text('prompt-known')).toContain('1 message from the previous call');
    expect(page.all('prompt-message').map(({ dataset }) => dataset['role'])).toEqual(['assistant', 'tool']);
    expect(text('prompt-view')).toContain('"temperature": 0.5');
  });

  it('show both sides of what broke the prefix, from the bar of the call', async () => {
    const at = events.findIndex(({ spanId }) => spanId === spanIds[1]);
    const broken = {
      ...events[at]!,
      action: 'prompt.break',
      status: 'ok' as const,
      spanId: 'broken',
      payloadSummary: 'reason=edit block=messages position=2 keptTokens=5 lostTokens=190',
    };
    const cached = events.map((event) =>
      event.spanId === spanIds[1] && event.status !== 'pending'
        ? { ...event, payloadSummary: `${event.payloadSummary} cachedTokens=60 cacheWriteTokens=40 cacheableTokens=70` }
        : event
    );
    await openRun(fakeInspector({ records: [recordOf(cached.toSpliced(at, 0, broken))], prompts }));
    await page.click('run-tab-usage');
    await page.find('prompt-use');
    const widths = [...page.all('prompt-use')[1]!.querySelectorAll('i')].map(({ style: { width } }) => width);
    expect(widths).toEqual(['23.08%', '15.38%', '61.54%', '26.92%']);
    expect(page.all('prompt-use').map(({ textContent }) => textContent)).toEqual([
      '1. scripted demo200 input',
      '2. scripted demo260 input, 60 cached, 40 written, 70 unchanged (estimate)edit −190',
    ]);
    await page.click('prompt-break');
    const sides = (await page.find('changed-block')).textContent;
    expect(sides).toContain('Changed: edit');
    expect(sides).toContain('Block 2 (messages) differs from the call before: about 190 tokens');
    expect(sides.match(/What is 6 \* 7/g)).toHaveLength(2);
  });

  it('are reached from the call', async () => {
    await openRun(fakeInspector({ records: [recordOf(events)], prompts }));
    page.all('span-row')[6]?.click();
    await page.click('span-prompt');
    const choice = await page.find('prompt-choice') as HTMLSelectElement; // as above
    expect(choice.value).toBe('1');
  });

  it('end with the page, which says so', async () => {
    await openRun(fakeInspector({ records: [recordOf(events)] }));
    await page.click('run-tab-prompt');
    await vi.waitFor(() => expect(text('prompt-none')).toContain('this page holds the prompts of the latest runs'));
  });

  it('are in the file only if the person wants them there', async () => {
    const files = savedFiles();
    await openRun(fakeInspector({ records: [recordOf(events, tools)], prompts }));
    await page.click('run-save');
    await page.find('save-prompts');
    await page.click('save-run-now');
    await vi.waitFor(() => expect(files).toHaveLength(1));
    expect(await files[0]?.text()).not.toContain('What is 6 * 7?');
    await page.click('run-save');
    await vi.waitFor(() => expect(page.all('save-prompts')[0]).toHaveProperty('disabled', false));
    await page.click('save-prompts');
    await page.click('save-run-now');
    await vi.waitFor(() => expect(files).toHaveLength(2));
    expect(await files[1]?.text()).toContain('What is 6 * 7?');
    vi.restoreAllMocks();
    await page.click('runs-back');
    await chooseFile(await files[1]!.text());
    await page.find('run-view');
    expect(text('run-summary')).toContain('from a file');
    await page.click('run-tab-prompt');
    await page.find('prompt-view');
    expect(text('prompt-notice')).toContain('can read the conversation');
  });
});

describe('a run’s file', () => {
  it('is opened, and shows what it holds as text and nothing else', async () => {
    page = await mount({ inspector: fakeInspector().control });
    await page.click('open-runs');
    await page.find('runs-empty');
    const hostile = '<img src=x onerror=alert(1)><script>alert(1)</script>';
    const events = emittedRun().map((event) => ({
      ...event,
      action: `${event.action} ${hostile}`,
      target: { type: 'tool', id: hostile },
      payloadSummary: `a="${hostile}" href=javascript:alert(1)`,
    }));
    const record = {
      ...recordOf(emittedRun()),
      events,
      tools: { digest: hostile, tools: [{ id: hostile, excluded: 'constructor' }] },
    };
    await chooseFile(writeRunFile(record));
    await page.find('run-view');
    page.all('span-row')[0]?.click();
    await page.find('span-details');
    for (const tab of ['timeline', 'events', 'tools', 'prompt', 'usage']) {
      await page.click(`run-tab-${tab}`);
      const panel = document.getElementById('run-panel');
      expect(panel?.querySelector('img, script, a, iframe, [onerror]')).toBe(null);
    }
    await page.click('run-tab-tools');
    expect(text('tools-view')).toContain(hostile);
  });

  it('is refused with what is wrong with it', async () => {
    page = await mount({ inspector: fakeInspector().control });
    await page.click('open-runs');
    await page.find('runs-empty');
    await chooseFile('{"format":"har"}');
    await page.find('runs-problem');
    expect(text('runs-problem')).toBe('Cannot read the file: "format" must be "pinnace-run".');
    await chooseFile(writeRunFile(recordOf(emittedRun())));
    await page.find('run-view');
    expect(page.all('runs-problem')).toEqual([]);
  });
});

describe('the time and tokens of a run', () => {
  it('stand in all and step by step', async () => {
    await openRun(fakeInspector({ records: [recordOf(emittedRun())] }));
    await page.click('run-tab-usage');
    await page.find('usage-view');
    expect(text('usage-model')).toBe('Model700 ms 70 %');
    expect(text('usage-tool')).toBe('Tools200 ms 20 %');
    expect(text('usage-wait')).toBe('Waiting100 ms 10 %');
    const steps = page.all('usage-step').map((row) => [...row.children].map(({ textContent }) => textContent));
    expect(steps).toEqual([
      ['Step 1navigator, 1 failed', '', '300 ms', '80 ms', '200 ms', '0 ms', '', '200', '20'],
      ['Step 2navigator', '', '400 ms', '90 ms', '0 ms', '0 ms', '', '260', '40'],
    ]);
  });

  it('may be without steps', async () => {
    const events = emittedRun().filter(({ action }) => action !== 'step');
    await openRun(fakeInspector({ records: [recordOf(events)] }));
    await page.click('run-tab-usage');
    expect((await page.find('usage-no-steps')).textContent).toBe('This run has no steps.');
  });

  it('is reached by keys', async () => {
    await openRun(fakeInspector({ records: [recordOf(emittedRun())] }));
    press('run-tab-timeline', 'End');
    await page.find('usage-view');
    expect(document.activeElement).toBe(page.all('run-tab-usage')[0]);
    press('run-tab-usage', 'ArrowRight');
    await page.find('waterfall');
  });
});
