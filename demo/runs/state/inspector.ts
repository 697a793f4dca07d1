/** The inspector's screen: the runs that there are, and the one that is open. */

import { batch, type ReadonlySignal, signal } from '@preact/signals';
import { type ErrorData, toData } from '../../../src/base/errors.ts';
import type { AskedRun } from '../../control/page-control.ts';
import type { Found, InspectorControl, RunList, RunRecord } from '../../control/runs-control.ts';
import { createRunFeed } from './run-news.ts';
import { createOpenedRun, type OpenedRun } from './opened-run.ts';
import { readRunFile, type RunFile } from './run-file.ts';
import type { ConnectedTransports } from '../../app/state/transports.ts';
import { problemOf } from '../../kit/answer-problem.ts';

/** What is shown of the open run. */
export type InspectorTab = typeof inspectorTabs[number];

export const inspectorTabs = ['timeline', 'steps', 'events', 'tools', 'prompt', 'usage'] as const;

/** The screen's state, and what can be done in it. */
export interface Inspector {
  /** `undefined` until the first answer. */
  readonly list: ReadonlySignal<RunList | undefined>;
  readonly opened: ReadonlySignal<OpenedRun | undefined>;
  readonly tab: ReadonlySignal<InspectorTab>;
  /** Why the latest action failed. */
  readonly problem: ReadonlySignal<string | undefined>;
  /** Why the run at an endpoint cannot be shown. */
  readonly refusal: ReadonlySignal<ErrorData | undefined>;
  /** Shows the list, as it is now. */
  showList(): Promise<void>;
  /** Opens the run, at the endpoint `via` if given; of a plan that another run started, that run. */
  open(
    traceId: string,
    how?: {
      readonly planId?: string | undefined;
      readonly via?: string | undefined;
      /** What of it is shown first; the timeline, where there is no such tab. */
      readonly tab?: string | undefined;
    },
  ): Promise<void>;
  /** Reads the events of a run of this page; none where it is gone. */
  readonly eventsOf: (traceId: string) => Promise<RunRecord['events']>;
  openFile(file: Blob): Promise<void>;
  /** Shows no run. */
  leave(): void;
  show(tab: InspectorTab): void;
  /** Reloads the prompts of the open run. */
  refreshPrompts(): Promise<void>;
  /** What the file of the open run is to hold. */
  toFile(how: { readonly withPrompts: boolean }): Promise<RunFile | undefined>;
  erase(): Promise<void>;
}

interface InspectorOptions {
  readonly control: InspectorControl;
  /** Returns runs of endpoints. */
  readonly runAt: ConnectedTransports['runAt'];
  readonly announce: (text: string) => void;
  readonly onErased?: () => void;
  readonly now?: () => number;
}

/** Creates the screen's state. Calls the worker only when shown. */
export function createInspector({ control, runAt, announce, onErased, now = Date.now }: InspectorOptions): Inspector {
  const list = signal<RunList | undefined>(undefined);
  const opened = signal<OpenedRun | undefined>(undefined);
  const tab = signal<InspectorTab>('timeline');
  const problem = signal<string | undefined>(undefined);
  const refusal = signal<ErrorData | undefined>(undefined);
  let looking = new AbortController();
  let turns = 0;
  let wantedTab: string | undefined;
  const feed = createRunFeed({ control, list, opened });

  /** Returns the value, or says what is wrong. */
  async function answerOf<T>(asking: Promise<Found<T>>): Promise<T | undefined> {
    const answer = await asking.catch(() => undefined);
    problem.value = problemOf(answer, 'The worker did not respond');
    return answer?.ok ? answer.value : undefined;
  }

  function showRecord(record: RunRecord, source: OpenedRun['source']): void {
    const run = createOpenedRun(record, { source, now });
    feed.catchUp(run);
    show(run);
  }

  function show(run: OpenedRun): void {
    batch(() => {
      opened.value = run;
      tab.value = inspectorTabs.find((each) => each === wantedTab) ?? 'timeline';
      wantedTab = undefined;
    });
  }

  async function traceOfPlan(planId: string): Promise<string | undefined> {
    const { runs } = await control.list().catch(() => ({ runs: [] }));
    return runs.find((head) => head.planId === planId)?.traceId;
  }

  async function refreshPrompts(): Promise<void> {
    const run = opened.value;
    if (run?.source !== 'worker') return;
    const { traceId } = run.record.value.head;
    run.setPrompts(await control.prompts(traceId).catch(() => []));
  }

  function leave(): number {
    looking.abort();
    batch(() => {
      opened.value = undefined;
      problem.value = undefined;
      refusal.value = undefined;
    });
    return ++turns;
  }

  async function openAt(via: string, requested: AskedRun): Promise<void> {
    const turn = leave();
    feed.forget();
    looking = new AbortController();
    const found = await runAt(via, requested, { onNews: (news) => feed.take(news), signal: looking.signal })
      .catch((error: unknown) => ({ ok: false, error: toData(error) } as const));
    if (turn !== turns) return; // another was opened meanwhile
    if (found.ok) showRecord(found.value, 'endpoint');
    else refusal.value = found.error;
  }

  return {
    list,
    opened,
    tab,
    problem,
    refusal,
    refreshPrompts,
    async showList() {
      leave();
      feed.watch();
      list.value = await control.list().catch(() => ({ runs: [], isStored: false }));
    },
    async open(requested, { planId, via, tab: first } = {}) {
      wantedTab = first;
      if (via !== undefined) return await openAt(via, { traceId: requested, planId });
      const turn = leave();
      feed.watch();
      feed.forget();
      const traceId = planId === undefined ? requested : await traceOfPlan(planId) ?? requested;
      const record = await answerOf(control.run(traceId));
      if (!record || turn !== turns) return; // another was opened meanwhile
      showRecord(record, 'worker');
    },
    async eventsOf(traceId) {
      const found = await control.run(traceId);
      return found.ok ? found.value.events : [];
    },
    async openFile(file) {
      const turn = ++turns;
      try {
        const { prompts = [], ...record } = await readRunFile(file);
        if (turn !== turns) return;
        problem.value = undefined;
        show(createOpenedRun(record, { source: 'file', prompts, now }));
      } catch (error) {
        problem.value = `${toData(error).message}.`;
      }
    },
    leave: () => void leave(),
    show: (next) => void (tab.value = next),
    async toFile({ withPrompts }) {
      const run = opened.value;
      if (!run) return undefined;
      if (withPrompts) await refreshPrompts();
      const prompts = withPrompts ? run.prompts.value : undefined;
      const { head: { question, ...head }, ...record } = run.record.value;
      // The question is a part of the prompt.
      return {
        ...record,
        head: withPrompts && question !== undefined ? { ...head, question } : head,
        ...(prompts && { prompts }),
      };
    },
    async erase() {
      await answerOf(control.erase());
      if (problem.value !== undefined) return;
      onErased?.();
      announce('All runs are erased');
      list.value = await control.list().catch(() => ({ runs: [], isStored: false }));
    },
  };
}
