import type { JSX } from 'preact';
import { isSettled, type ToolPart } from '../state/message.ts';
import { Fact } from './fact.tsx';
import { JsonView } from '../../kit/json-view.tsx';

/** Everything about a tool call: input, output or error, and its log. */
export function ToolDetails({ part }: { part: ToolPart }): JSX.Element {
  const { name, input, output, errorText, failure, state } = part.call.value;
  return (
    <div class='tool-body'>
      <ToolInput part={part} input={input} />
      {output !== undefined && <JsonView label={state === 'running' ? 'Output so far' : 'Output'} value={output} />}
      <ToolLog part={part} />
      <dl class='facts'>
        <Fact name='Tool' value={name} />
        <Fact name='Call' value={part.toolCallId} />
        {failure && <Fact name='Error' value={failure.code} />}
        {failure && <Fact name='Retryable' value={failure.retryable ? 'yes' : 'no'} />}
        {failure && failure.attempt > 1 && <Fact name='Attempt' value={String(failure.attempt)} />}
        {failure?.traceId !== undefined && <Fact name='Trace' value={failure.traceId} />}
        {!failure && errorText !== undefined && <Fact name='Error' value={errorText} />}
      </dl>
    </div>
  );
}

/** The input, or as much of it as the model has written. */
function ToolInput({ part, input }: { part: ToolPart; input: unknown }): JSX.Element | null {
  if (input !== undefined) return <JsonView label='Input' value={input} />;
  if (part.inputText.value === '') return null;
  return <JsonView label={isSettled(part.call.value.state) ? 'Input' : 'Input so far'} value={part.inputText.value} />;
}

function ToolLog({ part: { logs } }: { part: ToolPart }): JSX.Element | null {
  if (logs.value.length === 0) return null;
  return (
    <section class='tool-log'>
      <div class='code-head'>
        <span>Log</span>
      </div>
      <ol>
        {logs.value.map(({ level, text }, i) => (
          <li key={i} data-level={level}>
            <span>{level}</span>
            {text}
          </li>
        ))}
      </ol>
    </section>
  );
}
