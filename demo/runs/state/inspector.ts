/** The inspector's screen: the runs that there are, and the one that is open. */

import { batch, type Signal, signal } from '@preact/signals';
import { type ErrorData, toData } from '../../../src/base/errors.ts';
import type { AskedRun } from '../../control/page-control.ts';
import type { Found, InspectorControl, RunList, RunRecord } from '../../control/runs-control.ts';
import { createRunFeed } from './run-news.ts';
import { createOpenedRun, type OpenedRun } from './opened-run.ts';
import { readRunFile, type RunFile } from './run-file.ts';
import type { ConnectedTransports } from '../../chat/state/transports.ts';
import { problemOf } from '../../kit/answer-problem.ts';

/** What is shown of the open run. */
export type InspectorTab = typeof inspectorTabs[number];

export const inspectorTabs = ['timeline', 'steps', 'events', 'tools', 'prompt', 'usage'] as const;

interface InspectorOptions {
  readonly control: InspectorControl;
  /** Returns runs of endpoints. */
  readonly runAt: ConnectedTransports['runAt'];
  readonly announce: (text: string) => void;
  readonly onErased?: () => void;
  readonly now?: () => number;
}

/** The screen's state, and what can be done in it. Calls the worker only when shown. */
export class Inspector {
  /** `undefined` until the first answer. */
  readonly list: Signal<RunList | undefined> = signal<RunList | undefined>(undefined);
  readonly opened: Signal<OpenedRun | undefined> = signal<OpenedRun | undefined>(undefined);
  readonly tab: Signal<InspectorTab> = signal<InspectorTab>('timeline');
  /** Why the latest action failed. */
  readonly problem: Signal<string | undefined> = signal<string | undefined>(undefined);
  /** Why the run at an endpoint cannot be shown. */
  readonly refusal: Signal<ErrorData | undefined> = signal<ErrorData | undefined>(undefined);
  readonly #options: InspectorOptions;
  readonly #feed: ReturnType<typeof createRunFeed>;
  readonly #now: () => number;
  #looking = new AbortController();
  #turns = 0;
  #wantedTab: string | undefined;

  constructor(options: InspectorOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#feed = createRunFeed({ control: options.control, list: this.list, opened: this.opened });
  }

  /** Shows the list, as it is now. */
  async showList(): Promise<void> {
    this.#close();
    this.#feed.watch();
    await this.#readList();
  }

  /** Opens the run, at the endpoint `via` if given; of a plan that another run started, that run. */
  async open(
    requested: string,
    { planId, via, tab }: {
      readonly planId?: string | undefined;
      readonly via?: string | undefined;
      /** What of it is shown first; the timeline, where there is no such tab. */
      readonly tab?: string | undefined;
    } = {},
  ): Promise<void> {
    this.#wantedTab = tab;
    if (via !== undefined) return await this.#openAt(via, { traceId: requested, planId });
    const turn = this.#close();
    this.#feed.watch();
    this.#feed.forget();
    const traceId = planId === undefined ? requested : await this.#traceOfPlan(planId) ?? requested;
    const record = await this.#answerOf(this.#options.control.run(traceId));
    if (!record || turn !== this.#turns) return; // another was opened meanwhile
    this.#showRecord(record, 'worker');
  }

  /** Reads the events of a run of this page; none where it is gone. */
  readonly eventsOf = async (traceId: string): Promise<RunRecord['events']> => {
    const found = await this.#options.control.run(traceId);
    return found.ok ? found.value.events : [];
  };

  async openFile(file: Blob): Promise<void> {
    const turn = ++this.#turns;
    try {
      const { prompts = [], ...record } = await readRunFile(file);
      if (turn !== this.#turns) return;
      this.problem.value = undefined;
      this.#showRun(createOpenedRun(record, { source: 'file', prompts, now: this.#now }));
    } catch (error) {
      this.problem.value = `${toData(error).message}.`;
    }
  }

  /** Shows no run. */
  leave(): void {
    this.#close();
  }

  show(tab: InspectorTab): void {
    this.tab.value = tab;
  }

  /** Reloads the prompts of the open run. */
  async refreshPrompts(): Promise<void> {
    const run = this.opened.value;
    if (run?.source !== 'worker') return;
    const { traceId } = run.record.value.head;
    run.setPrompts(await this.#options.control.prompts(traceId).catch(() => []));
  }

  /** What the file of the open run is to hold. */
  async toFile({ withPrompts }: { readonly withPrompts: boolean }): Promise<RunFile | undefined> {
    const run = this.opened.value;
    if (!run) return undefined;
    if (withPrompts) await this.refreshPrompts();
    const prompts = withPrompts ? run.prompts.value : undefined;
    const { head: { question, ...head }, ...record } = run.record.value;
    // The question is a part of the prompt.
    return {
      ...record,
      head: withPrompts && question !== undefined ? { ...head, question } : head,
      ...(prompts && { prompts }),
    };
  }

  async erase(): Promise<void> {
    await this.#answerOf(this.#options.control.erase());
    if (this.problem.value !== undefined) return;
    this.#options.onErased?.();
    this.#options.announce('All runs are erased');
    await this.#readList();
  }

  /** Returns the value, or says what is wrong. */
  async #answerOf<T>(asking: Promise<Found<T>>): Promise<T | undefined> {
    const answer = await asking.catch(() => undefined);
    this.problem.value = problemOf(answer, 'The worker did not respond');
    return answer?.ok ? answer.value : undefined;
  }

  async #readList(): Promise<void> {
    this.list.value = await this.#options.control.list().catch(() => ({ runs: [], isStored: false }));
  }

  #showRecord(record: RunRecord, source: OpenedRun['source']): void {
    const run = createOpenedRun(record, { source, now: this.#now });
    this.#feed.catchUp(run);
    this.#showRun(run);
  }

  #showRun(run: OpenedRun): void {
    batch(() => {
      this.opened.value = run;
      this.tab.value = inspectorTabs.find((each) => each === this.#wantedTab) ?? 'timeline';
      this.#wantedTab = undefined;
    });
  }

  async #traceOfPlan(planId: string): Promise<string | undefined> {
    const { runs } = await this.#options.control.list().catch(() => ({ runs: [] }));
    return runs.find((head) => head.planId === planId)?.traceId;
  }

  /** Returns the turn of what is opened next. */
  #close(): number {
    this.#looking.abort();
    batch(() => {
      this.opened.value = undefined;
      this.problem.value = undefined;
      this.refusal.value = undefined;
    });
    return ++this.#turns;
  }

  async #openAt(via: string, requested: AskedRun): Promise<void> {
    const turn = this.#close();
    this.#feed.forget();
    this.#looking = new AbortController();
    const { signal: isOver } = this.#looking;
    const found = await this.#options.runAt(via, requested, { onNews: (news) => this.#feed.take(news), signal: isOver })
      .catch((error: unknown) => ({ ok: false, error: toData(error) } as const));
    if (turn !== this.#turns) return; // another was opened meanwhile
    if (found.ok) this.#showRecord(found.value, 'endpoint');
    else this.refusal.value = found.error;
  }
}
