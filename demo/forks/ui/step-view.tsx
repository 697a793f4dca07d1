import type { ComponentChildren, JSX } from 'preact';
import { summarize } from '../../kit/format.ts';
import { Icon, type IconName } from '../../kit/icon.tsx';
import { JsonView } from '../../kit/json-view.tsx';
import { outcomeWords } from '../state/fork-words.ts';
import type { CallOutcome, RunStep, StepCall } from '../state/run-steps.ts';

/** A step: what the model wrote, and the calls that it asked for. */
export function StepView(
  { step, edited }: { step: RunStep; edited?: ReadonlyMap<string, unknown> | undefined },
): JSX.Element {
  return (
    <>
      {step.reasoning !== '' && (
        <details class='fork-reasoning'>
          <summary>Reasoning</summary>
          <p class='fork-text'>{step.reasoning}</p>
        </details>
      )}
      {step.text !== '' && <p class='fork-text' data-testid='step-text'>{step.text}</p>}
      {step.calls.map((call) => (
        <CallView
          key={call.id}
          call={call}
          edited={edited?.has(call.id) ? { output: edited.get(call.id) } : undefined}
        />
      ))}
      {step.text === '' && step.calls.length === 0 && <p class='inspector-faint'>The model wrote nothing.</p>}
    </>
  );
}

interface CallViewProps {
  readonly call: StepCall;
  /** The output that a fork has put in place of the call's. */
  readonly edited?: { readonly output: unknown } | undefined;
  /** What is different, in a word. */
  readonly mark?: string | undefined;
}

/** A tool call in one line, with its input and its outcome folded. */
export function CallView({ call, edited, mark }: CallViewProps): JSX.Element {
  return (
    <details class='fork-call' data-testid='step-call' data-mark={mark} open={edited !== undefined}>
      <summary>
        <Icon name={iconOf(call.outcome)} />
        <code>{call.tool}</code>
        <span class='fork-call-input'>
          <bdi>{summarize(call.input)}</bdi>
        </span>
        <span class='fork-call-end'>{edited ? 'Result changed' : outcomeWords(call.outcome)}</span>
        {mark !== undefined && <Mark>{mark}</Mark>}
      </summary>
      <JsonView label='Input' value={call.input} />
      {call.outcome.type === 'output' && (
        <JsonView label={edited ? 'Result in the original' : 'Result'} value={call.outcome.output} />
      )}
      {edited && <JsonView label='Result in the fork' value={edited.output} />}
    </details>
  );
}

/** A word that marks a difference. */
export function Mark({ children }: { children: ComponentChildren }): JSX.Element {
  return <span class='fork-mark' data-testid='fork-mark'>{children}</span>;
}

function iconOf({ type }: CallOutcome): IconName {
  switch (type) {
    case 'output':
      return 'check';
    case 'error':
      return 'cross';
    case 'denied':
      return 'hand';
    default:
      return 'wait';
  }
}
