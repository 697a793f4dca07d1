/** The test cases as the page shows them: what runs them, and how a report differs from an earlier one. */

import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { compare, type Comparison } from '../../../src/evals/run-evals.ts';
import type { ErrorData } from '../../../src/base/errors.ts';
import type { Provider } from '../../../src/registry/index.ts';
import { problemOf } from '../../kit/answer-problem.ts';
import type {
  Answered,
  EvalFilesText,
  Evals,
  EvalsControl,
  EvalSetting,
  StoredReport,
} from '../../control/evals-control.ts';

/** The screen's state. */
export interface EvalsPage {
  /** `undefined` until the first answer. */
  readonly evals: ReadonlySignal<Evals | undefined>;
  readonly problem: ReadonlySignal<string | undefined>;
  readonly setting: ReadonlySignal<EvalSetting>;
  readonly providers: ReadonlySignal<readonly Provider[]>;
  readonly isRunning: ReadonlySignal<boolean>;
  /** The latest report. */
  readonly report: ReadonlySignal<StoredReport | undefined>;
  /** The report that it is compared with: the one before, until another is chosen. */
  readonly baseline: ReadonlySignal<StoredReport | undefined>;
  readonly comparison: ReadonlySignal<Comparison | undefined>;
  refresh(): Promise<void>;
  remove(id: string): Promise<void>;
  change(setting: Partial<EvalSetting>): void;
  run(): Promise<void>;
  compareWith(at: number): void;
  files(): Promise<EvalFilesText | undefined>;
}

interface EvalsPageOptions {
  readonly control: EvalsControl;
  readonly providersOf: () => Promise<readonly Provider[]>;
  readonly announce: (text: string) => void;
}

/** Creates the state. Calls the worker only when asked. */
export function createEvalsPage({ control, providersOf, announce }: EvalsPageOptions): EvalsPage {
  const evals = signal<Evals | undefined>(undefined);
  const problem = signal<string | undefined>(undefined);
  const setting = signal<EvalSetting>({ agent: 'current', answers: 'auto' });
  const providers = signal<readonly Provider[]>([]);
  const isRunning = signal(false);
  const chosen = signal<number | undefined>(undefined);
  const report = computed(() => evals.value?.reports[0]);
  const baseline = computed(() => {
    const [, ...earlier] = evals.value?.reports ?? [];
    return earlier.find(({ at }) => at === chosen.value) ?? earlier[0];
  });

  async function take<T>(asked: Promise<Answered<T>>): Promise<T | undefined> {
    const found: Answered<T> = await asked.catch((): Answered<T> => ({ ok: false, error: noAnswer }));
    problem.value = problemOf(found, 'The worker did not respond');
    return found.ok ? found.value : undefined;
  }

  async function show(asked: Promise<Answered<Evals>>): Promise<void> {
    evals.value = await take(asked) ?? evals.value;
  }

  return {
    evals,
    problem,
    setting,
    providers,
    isRunning,
    report,
    baseline,
    comparison: computed(() => report.value && baseline.value && compare(baseline.value.report, report.value.report)),
    async refresh() {
      await show(control.list());
      providers.value = await providersOf().catch(() => []);
    },
    remove: (id) => show(control.remove(id)),
    change: (next) => void (setting.value = { ...setting.value, ...next }),
    async run() {
      isRunning.value = true;
      chosen.value = undefined;
      await show(control.run(setting.value));
      isRunning.value = false;
      const { passed = 0, failed = 0 } = report.value?.report ?? {};
      if (problem.value === undefined) announce(`${passed} passed, ${failed} failed`);
    },
    compareWith: (at) => void (chosen.value = at),
    files: () => take(control.files()),
  };
}

const noAnswer: ErrorData = { code: 'unavailable', message: 'The worker did not respond', retryable: true };
