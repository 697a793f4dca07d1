import type { JSX } from 'preact';
import type { OpenedRun } from '../state/opened-run.ts';
import type { RunSpan } from '../state/run-spans.ts';
import { Icon } from '../../kit/icon.tsx';
import { JsonView } from '../../kit/json-view.tsx';
import { Fact } from '../../chat/ui/fact.tsx';
import { formatLength, formatMoment } from './moment.ts';
import { RunDetails } from './run-details.tsx';
import { wordOf } from './status.tsx';

interface SpanDetailsProps {
  readonly run: OpenedRun;
  readonly onPrompt: () => void;
}

/** Everything about the span that is selected. */
export function SpanDetails({ run, onPrompt }: SpanDetailsProps): JSX.Element | null {
  const span = run.selected.value;
  if (!span) return null;
  return (
    <RunDetails
      label='The span'
      testId='span-details'
      status={span.status}
      title={span.name}
      from='waterfall'
      onClose={() => run.select(undefined)}
    >
      <div class='button-row'>
        <button type='button' class='quiet-button' data-testid='span-zoom' onClick={() => run.zoomTo(span)}>
          <Icon name='zoomIn' />
          Zoom to it
        </button>
        {span.kind === 'model' && (
          <button type='button' class='quiet-button' data-testid='span-prompt' onClick={onPrompt}>
            <Icon name='eye' />
            Its prompt
          </button>
        )}
      </div>
      <SpanFacts span={span} />
      {span.events.slice(0, mostEvents).map((place) => (
        <JsonView key={place} label={`Event ${place + 1}`} value={run.record.value.events[place]} />
      ))}
      {span.events.length > mostEvents && (
        <p class='inspector-faint'>And {span.events.length - mostEvents} more events: they are under “Events”.</p>
      )}
    </RunDetails>
  );
}

const mostEvents = 6;

function SpanFacts({ span }: { span: RunSpan }): JSX.Element {
  const { target, actor, status, error, startMs, facts } = span;
  return (
    <dl class='facts'>
      <Fact name='Target' value={`${target.type} ${target.id}`} />
      <Fact name='Actor' value={`${actor.type} ${actor.id}`} />
      <Fact name='Status' value={status === 'pending' ? 'started; no end recorded' : wordOf(status)} />
      {error && <Fact name='Error' value={`${error.code}: ${error.message}`} />}
      {error && <Fact name='Retryable' value={error.retryable ? 'yes' : 'no'} />}
      <Fact name='Start' value={formatMoment(startMs)} />
      <Fact name='Duration' value={formatLength(span)} />
      {Object.entries(facts).map(([name, value]) => <Fact key={name} name={name} value={String(value)} />)}
    </dl>
  );
}
