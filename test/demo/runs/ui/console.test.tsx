import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Activity, ConsoleControl } from '../../../../demo/control/server-control.ts';
import type { InspectorControl } from '../../../../demo/control/runs-control.ts';
import type { PlanView } from '../../../../src/planner/planner.ts';
import type { Answer } from '../../../../demo/control/answer.ts';
import { toData } from '../../../../src/base/errors.ts';
import { PinnaceError } from '../../../../src/index.ts';
import { mount, type Page } from '../../../fixtures/page/playground.tsx';

let page: Page;

afterEach(() => page.unmount());

/** Of this page's own runs nothing is asked. */
const inspector = {} as InspectorControl;
const forbidden = { ok: false, error: toData(new PinnaceError('forbidden', 'The scope "admin" is missing')) } as const;
const run = {
  runId: 'run_1',
  traceId: 't1',
  agentId: 'helper',
  by: 'ada',
  status: 'pending' as const,
  startedAt: Date.parse('2026-11-21T08:00:00Z'),
};
const activity: Activity = {
  runs: [run, { ...run, runId: 'run_2', status: 'error' as const, error: 'unavailable', durationMs: 1200 }],
  plans: [{ planId: 'plan_1', traceId: 't2', by: 'ada', state: 'running', startedAt: '2026-11-21T08:00:00Z' }],
};
const event = {
  timestamp: '2026-11-21T08:00:00Z',
  traceId: 't1',
  actor: { type: 'user', id: 'ada' },
  action: 'tool.call',
  target: { type: 'tool', id: 'notes_delete' },
  status: 'ok',
  latency: 1,
  error: null,
  payloadSummary: 'runId=run_1',
} as const;

/** A console that answers what the test says, and notes what it was asked. */
function consoleOf(answers: Partial<ConsoleControl> = {}): { control: ConsoleControl; asked: unknown[] } {
  const asked: unknown[] = [];
  const control: Partial<ConsoleControl> = {
    list: () => Promise.resolve({ ok: true, value: { items: [] } }),
    readiness: () => Promise.resolve({ ok: true, value: { status: 'ok', checks: { storage: 'ok' } } }),
    watch: (onActivity) => onActivity({ ok: true, value: activity }),
    leave: () => undefined,
    cancelRun: (runId) => Promise.resolve({ ok: true, value: void asked.push(['cancel', runId]) }),
    audit: (query) => {
      asked.push(query);
      return Promise.resolve({ ok: true, value: { items: [{ seq: 1, event, prevHash: '', hash: '' }] } });
    },
    verify: () =>
      Promise.resolve({
        ok: true,
        value: { ok: false, checked: 3, head: { seq: 3, hash: '' }, brokenAt: 2, reason: 'entry_mismatch' },
      }),
    budgets: () => Promise.resolve({ ok: true, value: [] }),
    metrics: () =>
      Promise.resolve({ ok: true, value: '# HELP runs Runs\n# TYPE runs counter\nruns{state="completed"} 7\n' }),
    ...answers,
  };
  return { control: control as ConsoleControl, asked }; // the pages ask for no more
}

async function openTab(tab: string, answers?: Partial<ConsoleControl>): Promise<unknown[]> {
  const { control, asked } = consoleOf(answers);
  page = await mount({ endpointConsole: control, inspector });
  await page.playground.settings.usePinnace('https://agents.example');
  await page.click(tab.startsWith('registry') ? 'open-agents' : 'open-runs');
  await page.click(tab);
  return asked;
}

const text = (testId: string): string => page.all(testId)[0]?.textContent ?? '';

describe('the console', () => {
  it('asks to choose an endpoint where none is chosen', async () => {
    page = await mount({ inspector });
    page.playground.screen.value = { name: 'runs', where: 'server', section: 'audit' };
    await page.find('server-none');
    await page.click('runs-back');
    await vi.waitFor(() => expect(page.all('runs')).toHaveLength(0));
  });

  it('shows the endpoint’s registry without what is the page’s own', async () => {
    await openTab('registry-tab-agent');
    await page.find('registry-tab-agent');
    expect(page.all('registry-tab-vault')).toHaveLength(0);
  });

  it('shows runs as they are reported, cancels one, and opens the inspector', async () => {
    const asked = await openTab('runs-tab-list');
    await vi.waitFor(() => expect(page.all('run-row')).toHaveLength(2));
    expect(page.all('run-row')[1]?.textContent).toContain('unavailable');
    await page.click('run-cancel');
    await vi.waitFor(() => expect(asked).toEqual([['cancel', 'run_1']]));
  });

  it('lists plans by their goals and true states, without ids', async () => {
    const shown = { planId: 'plan_1', traceId: 't2', state: 'suspended', paused: false, goal: 'Refit the winch' };
    await openTab('runs-tab-plans', {
      plan: () => Promise.resolve({ ok: true, value: shown as unknown as PlanView }), // what a list shows
    });
    await vi.waitFor(() => expect(text('console-plan')).toMatch(/^Refit the winchwaiting for youStarted by ada/));
    expect(text('console-plan')).not.toContain('plan_1');
  });

  it('lists plans that the endpoint does not show by who started them', async () => {
    await openTab('runs-tab-plans', { plan: () => Promise.resolve(forbidden) });
    await vi.waitFor(() => expect(text('console-plan')).toMatch(/^Plan of adarunning/));
  });

  it('asks the audit by filters, and says where its chain is broken', async () => {
    const asked = await openTab('runs-tab-audit');
    await page.find('console-audit-entry');
    const actor = await page.find('console-audit-actor') as HTMLInputElement; // it is one
    actor.value = 'ada';
    actor.dispatchEvent(new Event('change', { bubbles: true }));
    await vi.waitFor(() => expect(asked.at(-1)).toMatchObject({ actor: 'ada', limit: 50 }));
    await page.click('console-verify');
    await vi.waitFor(() => expect(text('console-verification')).toContain('Broken at entry 2: the entry was changed'));
  });

  it('shows the budgets of the caller, also where the metrics are refused', async () => {
    const every = { every: 'day', timeZone: 'UTC', resetsAt: Date.parse('2026-11-28T00:00:00Z') } as const;
    await openTab('runs-tab-metrics', {
      metrics: () => Promise.resolve({ ok: false, error: { code: 'forbidden', message: 'No', retryable: false } }),
      budgets: () =>
        Promise.resolve({
          ok: true,
          value: [
            { id: 'team', of: 'tenant', ...every, share: 0.42 },
            {
              id: 'mine',
              of: 'subject',
              ...every,
              share: 0.9,
              limit: { tokens: 1_000, runs: 5 },
              used: { tokens: 900, runs: 1 },
            },
          ],
        }),
    });
    await vi.waitFor(() => expect(text('console-budgets')).toContain('team, for your team, each day'));
    expect(text('console-budgets')).toContain('42% used.');
    expect(text('console-budgets')).toMatch(/90% used: 900 of 1,?000 tokens, 1 of 5 runs\. Starts again at .*2026/);
  });

  it('shows metrics, and how they have grown', async () => {
    let count = 7;
    await openTab('runs-tab-metrics', {
      metrics: () =>
        Promise.resolve({
          ok: true,
          value: `# HELP runs Runs\n# TYPE runs counter\nruns{state="completed"} ${count++}\n`,
        }),
    });
    await vi.waitFor(() => expect(text('console-metric')).toMatch(/completed(?:7|8\+1)/));
    await page.click('runs-tab-list');
    await page.click('runs-tab-metrics');
    await vi.waitFor(() => expect(text('console-metric')).toMatch(/\d\+\d/));
  });

  it('draws runs over time, and says the numbers of the point that the arrow keys choose', async () => {
    let completed = 0;
    let at = Date.now();
    vi.spyOn(Date, 'now').mockImplementation(() => (at += 60_000));
    onTestFinished(() => void vi.restoreAllMocks());
    await openTab('runs-tab-metrics', {
      metrics: () =>
        Promise.resolve({
          ok: true,
          value: `# TYPE pinnace_runs_total counter\npinnace_runs_total{state="completed"} ${(completed += 2)}\n`,
        }),
    });
    for (let reads = 0; reads < 3; reads++) {
      await page.click('runs-tab-list');
      await page.find('run-rows');
      const before = completed;
      await page.click('runs-tab-metrics');
      await vi.waitFor(() => expect(completed).toBeGreaterThan(before));
    }
    await vi.waitFor(() =>
      expect(page.all('console-plot')[0]?.querySelector('path')?.getAttribute('d')).toMatch(/^M.*L/)
    );
    const plot = page.all('console-plot')[0];
    expect(plot?.getAttribute('aria-label')).toContain('Runs over time: Completed, latest');
    const latest = text('console-chart');
    plot?.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowLeft', bubbles: true }));
    await vi.waitFor(() => expect(text('console-chart')).not.toBe(latest));
  });

  it.each(['list', 'plans', 'audit', 'metrics'])(
    'says in plain words that the page may not see the tab %s',
    async (tab) => {
      const refuse = (): Promise<Answer<never>> => Promise.resolve(forbidden);
      await openTab(`runs-tab-${tab}`, {
        watch: (onActivity) => onActivity(forbidden),
        audit: refuse,
        metrics: refuse,
      });
      await vi.waitFor(() => expect(text('console-refusal')).toContain('does not have the scope “admin”'));
    },
  );
});
