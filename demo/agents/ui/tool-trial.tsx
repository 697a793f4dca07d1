import type { JSX } from 'preact';
import { useEffect, useId } from 'preact/hooks';
import type { ToolRequest, ToolTrial } from '../../control/trial-control.ts';
import type { Trial } from '../state/tool-trial.ts';
import { formatDuration } from '../../kit/format.ts';
import { JsonView } from '../../kit/json-view.tsx';
import { Problem } from '../../kit/problem.tsx';

interface TrialViewProps {
  readonly trial: Trial;
  /** The definition as it is written now. */
  readonly tool: () => object;
  readonly type: string;
  readonly schema: unknown;
}

/** A test call: the input, the request as it would be sent, and what came of it. */
export function TrialView({ trial, tool, type, schema }: TrialViewProps): JSX.Element {
  const id = useId();
  const { input, request, result, problem, isBusy } = trial;
  useEffect(() => trial.suggest(schema), [JSON.stringify(schema)]);
  return (
    <section class='trial' data-testid='trial' aria-label='Test call'>
      <h2>Test call</h2>
      <div class='field'>
        <label for={id}>Input, as JSON</label>
        <textarea
          id={id}
          class='is-code'
          rows={4}
          spellcheck={false}
          data-testid='trial-input'
          value={input.value}
          onInput={({ currentTarget }) => trial.write(currentTarget.value)}
        />
      </div>
      <div class='button-row'>
        {type === 'http' && (
          <button
            type='button'
            class='button'
            data-testid='trial-preview'
            disabled={isBusy.value}
            onClick={() => void trial.preview(tool())}
          >
            Show the request
          </button>
        )}
        <button
          type='button'
          class='button'
          data-testid='trial-call'
          disabled={isBusy.value}
          onClick={() => void trial.call(tool())}
        >
          {isBusy.value ? 'Waiting…' : type === 'http' ? 'Send request' : 'Run'}
        </button>
      </div>
      <Problem text={problem.value} testId='trial-problem' />
      {type === 'http' && request.value && <Request request={request.value} />}
      {result.value && <Result result={result.value} />}
    </section>
  );
}

function Request({ request }: { request: ToolRequest }): JSX.Element {
  const { method, url, headers, body, needsApproval } = request;
  const lines = [
    `${method} ${url}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined ? [] : ['', body]),
  ];
  return (
    <div class='trial-part' data-testid='trial-request'>
      <JsonView label='Request preview' value={lines.join('\n')} />
      <p class='field-help'>
        {needsApproval
          ? 'This tool may change data. Agents ask for your approval first, but a test call is sent immediately.'
          : 'This tool only reads data. Agents call it without asking you.'}
      </p>
    </div>
  );
}

function Result({ result: { outcome, durationMs, answer, thrown } }: { result: ToolTrial }): JSX.Element {
  return (
    <div class='trial-part' data-testid='trial-result' data-ok={outcome.ok}>
      <p role='status' class={outcome.ok ? 'trial-good' : 'field-error'}>
        {outcome.ok ? 'Success' : `${outcome.error.message} (${outcome.error.code})`}, in {formatDuration(durationMs)}.
      </p>
      {thrown !== undefined && thrown !== '' && (
        <p class='field-error' data-testid='trial-thrown'>
          Error thrown: {thrown}
        </p>
      )}
      {answer && (
        <JsonView
          label={`Server response: ${answer.status} ${answer.type}${answer.isCut ? ' (truncated)' : ''}`}
          value={answer.text}
        />
      )}
      {outcome.ok && <JsonView label='Output for the model' value={outcome.output} />}
    </div>
  );
}
