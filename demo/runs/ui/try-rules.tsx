import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { toData } from '../../../src/base/errors.ts';
import type { ObservedEvent } from '../../../src/contracts/event-sink.ts';
import { guardRules, type RuleInput, type TriedCall, tryRules } from '../../../src/permission/index.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { formatCount } from '../../kit/format.ts';
import { GuideLink } from '../../kit/guide-link.tsx';
import type { RunHead } from '../../control/runs-control.ts';
import { Button } from '../../kit/button.tsx';

const decisions = { allow: 'allowed', ask: 'asks', deny: 'denied', unknown: 'depends on a value' } as const;

const first = JSON.stringify([...guardRules('watched'), { effect: 'allow', actions: ['*'] }], null, 2);

const periods = [
  ['all', 'Any time', Infinity],
  ['hour', 'Last hour', 3_600_000],
  ['day', 'Last 24 hours', 86_400_000],
  [
    'week',
    'Last 7 days',
    604_800_000,
  ],
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
  const tried = useSignal<readonly TriedCall[] | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  const progress = useSignal<string | undefined>(undefined);
  const work = useRef(new AbortController());
  useEffect(() => () => work.current.abort(), []);
  const run = async (): Promise<void> => {
    work.current.abort();
    const { signal } = work.current = new AbortController();
    const since = Date.now() - (periods.find(([id]) => id === period.value)?.[2] ?? Infinity);
    const chosen = runs.filter(({ startedAt }) => startedAt >= since);
    [tried.value, problem.value] = [undefined, undefined];
    async function* events(): AsyncGenerator<ObservedEvent> {
      for (const [i, { traceId }] of chosen.entries()) {
        progress.value = `Reading run ${i + 1} of ${chosen.length}`;
        yield* await eventsOf(traceId, signal);
      }
    }
    try {
      const wanted = JSON.parse(rules.value) as RuleInput[]; // they are checked there
      tried.value = await tryRules(wanted, events(), { signal, ...(agent.value !== '' && { agents: [agent.value] }) });
    } catch (error) {
      if (work.current.signal !== signal) return; // tried again meanwhile
      if (signal.aborted) problem.value = 'Stopped';
      else problem.value = error instanceof SyntaxError ? `This is not JSON: ${error.message}` : toData(error).message;
    } finally {
      if (work.current.signal === signal) progress.value = undefined;
    }
  };
  return (
    <Dialog class='dialog-plain' label='Try permission rules' testId='try-rules' onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        <h2>Try permission rules</h2>
        <p class='field-help'>
          Shows which tool calls of {list ? 'these runs' : 'this run'}{' '}
          the rules would have stopped or asked about. No tool is called.{' '}
          <GuideLink page='permissions'>How to write rules</GuideLink>
        </p>
        {list && (
          <div class='run-filters'>
            <select
              aria-label='Period'
              data-testid='try-rules-period'
              value={period.value}
              onChange={({ currentTarget }) => (period.value = currentTarget.value)}
            >
              {periods.map(([id, label]) => <option key={id} value={id}>{label}</option>)}
            </select>
            <select
              aria-label='Agent'
              data-testid='try-rules-agent'
              value={agent.value}
              onChange={({ currentTarget }) => (agent.value = currentTarget.value)}
            >
              <option value=''>All agents</option>
              {[...new Set(runs.map(({ agentId }) => agentId))].map((id) => (
                <option key={id} value={id}>{list.nameOf(id)}</option>
              ))}
            </select>
          </div>
        )}
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
        {problem.value !== undefined && <p class='field-error' role='alert'>{problem.value}</p>}
        <div role='status' data-testid='try-rules-result'>
          {progress.value}
          {tried.value && <Result tried={tried.value} list={list} />}
        </div>
        <div class='button-row'>
          <Button type='submit' kind='primary' testId='try-rules-run'>Try rules</Button>
          {progress.value !== undefined && (
            <Button testId='try-rules-stop' onClick={() => work.current.abort()}>
              Stop
            </Button>
          )}
          <Button onClick={onClose}>Close</Button>
        </div>
      </form>
    </Dialog>
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
