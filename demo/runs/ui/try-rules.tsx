import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { ObservedEvent } from '../../../src/contracts/event-sink.ts';
import { guardRules, type RuleInput, type TriedCall, tryRules } from '../../../src/permission/index.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { formatCount } from '../../kit/format.ts';
import { GuideLink } from '../../kit/guide-link.tsx';

const decisions = { allow: 'allowed', ask: 'asks', deny: 'denied', unknown: 'depends on a value' } as const;

const first = JSON.stringify([...guardRules('watched'), { effect: 'allow', actions: ['*'] }], null, 2);

interface TryRulesProps {
  readonly events: readonly ObservedEvent[];
  readonly onClose: () => void;
}

/** Says what permission rules would have said of the calls of a run. Nothing is called. */
export function TryRules({ events, onClose }: TryRulesProps): JSX.Element {
  const rules = useSignal(first);
  const tried = useSignal<readonly TriedCall[] | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  const run = async (): Promise<void> => {
    [tried.value, problem.value] = [undefined, undefined];
    try {
      tried.value = await tryRules(JSON.parse(rules.value) as RuleInput[], events); // checked there
    } catch (error) {
      problem.value = error instanceof SyntaxError
        ? `This is not JSON: ${error.message}`
        : error instanceof Error
        ? error.message
        : 'The rules could not be tried';
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
          Shows which tool calls of this run the rules would have stopped or asked about. No tool is called.{' '}
          <GuideLink page='permissions'>How to write rules</GuideLink>
        </p>
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
        <div role='status' data-testid='try-rules-result'>{tried.value && <Result tried={tried.value} />}</div>
        <div class='button-row'>
          <button type='submit' class='button is-primary' data-testid='try-rules-run'>Try rules</button>
          <button type='button' class='button' onClick={onClose}>Close</button>
        </div>
      </form>
    </Dialog>
  );
}

function Result({ tried }: { tried: readonly TriedCall[] }): JSX.Element {
  if (tried.length === 0) return <p>This run has called no tool.</p>;
  const counts = Object.entries(decisions).flatMap(([decision, word]) => {
    const count = tried.filter((call) => call.decision === decision).length;
    return count > 0 ? [`${count} ${word}`] : [];
  });
  return (
    <>
      <p>
        <strong>{formatCount(tried.length, 'call')}: {counts.join(', ')}.</strong>
      </p>
      <ul>
        {tried.filter(({ decision }) => decision !== 'allow').map(({ at, tool, decision, reason }) => (
          <li key={at} data-decision={decision}>
            <code>{tool}</code> {decisions[decision]}
            {reason !== undefined && `: ${reason}`}
          </li>
        ))}
      </ul>
    </>
  );
}
