import { batch, type Signal, signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { toData } from '../../../src/base/errors.ts';
import type { ObservedEvent } from '../../../src/contracts/event-sink.ts';
import { guardRules, type RuleInput, type TriedCall, tryRules } from '../../../src/permission/index.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { formatCount } from '../../kit/format.ts';
import { GuideLink } from '../../kit/guide-link.tsx';
import type { RunHead } from '../../control/runs-control.ts';
import { Button } from '../../kit/button.tsx';
import { Select } from '../../kit/choice.tsx';

const decisions = { allow: 'allowed', ask: 'asks', deny: 'denied', unknown: 'depends on a value' } as const;

const first = JSON.stringify([...guardRules('watched'), { effect: 'allow', actions: ['*'] }], null, 2);

const periods = [
  ['all', 'Any time', Infinity],
  ['hour', 'Last hour', 3_600_000],
  ['day', 'Last 24 hours', 86_400_000],
  ['week', 'Last 7 days', 604_800_000],
] as const;

/** More calls are counted, and not listed. */
const mostRows = 200;

/** Reads the events of a run. */
export type EventsOf = (traceId: string, signal: AbortSignal) => Promise<readonly ObservedEvent[]>;

interface TryRulesProps {
  readonly runs: readonly Pick<RunHead, 'traceId' | 'agentId' | 'startedAt'>[];
  readonly eventsOf: EventsOf;
  /** How runs and agents are named, and what opens a run; absent for the run that is open. */
  readonly list?: undefined | {
    readonly titleOf: (traceId: string) => string;
    readonly nameOf: (agentId: string) => string;
    readonly onOpen: (traceId: string) => void;
  };
  readonly onClose: () => void;
}

/** Says what permission rules would have said of the calls of runs. Nothing is called. */
export function TryRules({ runs, eventsOf, list, onClose }: TryRulesProps): JSX.Element {
  const rules = useSignal(first);
  const [period, agent] = [useSignal('all'), useSignal('')];
  const trial = useMemo(() => new Trial(), []);
  useEffect(() => () => trial.stop(), [trial]);
  const start = (): void => {
    const since = Date.now() - (periods.find(([id]) => id === period.value)?.[2] ?? Infinity);
    const chosen = runs.filter(({ startedAt }) => startedAt >= since);
    void trial.run(rules.value, { runs: chosen, agentId: agent.value, eventsOf });
  };
  return (
    <Dialog class='dialog-plain' label='Try permission rules' testId='try-rules' onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          start();
        }}
      >
        <h2>Try permission rules</h2>
        <p class='field-help'>
          Shows which tool calls of {list ? 'these runs' : 'this run'}{' '}
          the rules would have stopped or asked about. No tool is called.{' '}
          <GuideLink page='permissions'>How to write rules</GuideLink>
        </p>
        {list && <Filters runs={runs} nameOf={list.nameOf} period={period} agent={agent} />}
        <label class='field'>
          <span>Rules, as JSON</span>
          <textarea
            class='is-code'
            rows={12}
            spellcheck={false}
            data-testid='try-rules-input'
            value={rules.value}
            onInput={({ currentTarget }) => (rules.value = currentTarget.value)}
          />
        </label>
        {trial.problem.value !== undefined && <p class='field-error' role='alert'>{trial.problem.value}</p>}
        <div role='status' data-testid='try-rules-result'>
          {trial.progress.value}
          {trial.tried.value && <Result tried={trial.tried.value} list={list} />}
        </div>
        <div class='button-row'>
          <Button type='submit' kind='primary' testId='try-rules-run'>Try rules</Button>
          {trial.progress.value !== undefined && (
            <Button testId='try-rules-stop' onClick={() => trial.stop()}>Stop</Button>
          )}
          <Button onClick={onClose}>Close</Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Rules tried on the events of runs. Of two that overlap, only the later one is shown. */
class Trial {
  readonly tried: Signal<readonly TriedCall[] | undefined> = signal(undefined);
  readonly problem: Signal<string | undefined> = signal(undefined);
  /** Present while it runs. */
  readonly progress: Signal<string | undefined> = signal(undefined);
  #work = new AbortController();

  stop(): void {
    this.#work.abort();
  }

  /** Tries rules that are written as JSON, on the calls of one agent or, with an empty id, of all. */
  async run(rules: string, { runs, agentId, eventsOf }: TrialOptions): Promise<void> {
    this.stop();
    const work = this.#work = new AbortController();
    batch(() => (this.tried.value = this.problem.value = undefined));
    const { progress } = this;
    async function* events(): AsyncGenerator<ObservedEvent> {
      for (const [i, { traceId }] of runs.entries()) {
        progress.value = `Reading run ${i + 1} of ${runs.length}`;
        yield* await eventsOf(traceId, work.signal);
      }
    }
    try {
      const wanted = JSON.parse(rules) as RuleInput[]; // they are checked there
      const options = { signal: work.signal, ...(agentId !== '' && { agents: [agentId] }) };
      const tried = await tryRules(wanted, events(), options);
      if (this.#work === work) this.tried.value = tried;
    } catch (error) {
      if (this.#work === work) this.problem.value = work.signal.aborted ? 'Stopped' : messageOf(error);
    } finally {
      if (this.#work === work) this.progress.value = undefined;
    }
  }
}

interface TrialOptions extends Pick<TryRulesProps, 'runs' | 'eventsOf'> {
  readonly agentId: string;
}

function messageOf(error: unknown): string {
  return error instanceof SyntaxError ? `This is not JSON: ${error.message}` : toData(error).message;
}

interface FiltersProps extends Pick<TryRulesProps, 'runs'> {
  readonly nameOf: (agentId: string) => string;
  readonly period: Signal<string>;
  readonly agent: Signal<string>;
}

function Filters({ runs, nameOf, period, agent }: FiltersProps): JSX.Element {
  const agentIds = new Set(runs.map(({ agentId }) => agentId));
  return (
    <div class='run-filters'>
      <Select
        label='Period'
        testId='try-rules-period'
        value={period.value}
        options={periods.map(([id, label]) => [id, label])}
        onChoose={(chosen) => (period.value = chosen)}
      />
      <Select
        label='Agent'
        testId='try-rules-agent'
        value={agent.value}
        options={[['', 'All agents'], ...[...agentIds].map((id) => [id, nameOf(id)] as const)]}
        onChoose={(chosen) => (agent.value = chosen)}
      />
    </div>
  );
}

function Result({ tried, list }: Pick<TryRulesProps, 'list'> & { tried: readonly TriedCall[] }): JSX.Element {
  if (tried.length === 0) return <p>No tool was called.</p>;
  const counts = Object.entries(decisions).flatMap(([decision, word]) => {
    const count = tried.filter((call) => call.decision === decision).length;
    return count > 0 ? [`${count} ${word}`] : [];
  });
  const stopped = tried.filter(({ decision }) => decision !== 'allow');
  return (
    <>
      <p>
        <strong>{formatCount(tried.length, 'call')}: {counts.join(', ')}.</strong>
        {stopped.length > mostRows && ` The first ${mostRows} are listed.`}
      </p>
      {stopped.length > 0 && (
        <table class='usage-table'>
          <thead>
            <tr>
              <th scope='col'>Tool</th>
              <th scope='col'>Answer</th>
              <th scope='col'>Rule</th>
              {list && <th scope='col'>Run</th>}
            </tr>
          </thead>
          <tbody>
            {stopped.slice(0, mostRows).map(({ at, tool, decision, reason, traceId }) => (
              <tr key={at} data-decision={decision}>
                <td>
                  <code>{tool}</code>
                </td>
                <td>{decisions[decision]}</td>
                <td>{reason ?? 'no rule allows it'}</td>
                {list && (
                  <td>
                    <button
                      type='button'
                      class='link-button'
                      onClick={() => list.onOpen(traceId)}
                    >
                      {list.titleOf(traceId)}
                    </button>
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}
