import type { JSX } from 'preact';
import type { OpenedRun } from '../state/opened-run.ts';
import { formatCount } from '../../kit/format.ts';
import { Icon } from '../../kit/icon.tsx';
import { JsonView } from '../../kit/json-view.tsx';
import { RunDetails } from './run-details.tsx';
import { SpanFacts } from './span-facts.tsx';

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
      label='Span details'
      testId='span-details'
      status={span.status}
      title={span.name}
      from='waterfall'
      onClose={() => run.select(undefined)}
    >
      <div class='button-row'>
        <button type='button' class='quiet-button' data-testid='span-zoom' onClick={() => run.zoomTo(span)}>
          <Icon name='zoomIn' />
          Zoom to span
        </button>
        {span.kind === 'model' && (
          <button type='button' class='quiet-button' data-testid='span-prompt' onClick={onPrompt}>
            <Icon name='eye' />
            Show prompt
          </button>
        )}
      </div>
      <SpanFacts span={span} />
      {span.events.slice(0, mostEvents).map((place) => (
        <JsonView key={place} label={`Event ${place + 1}`} value={run.record.value.events[place]} />
      ))}
      {span.events.length > mostEvents && (
        <p class='inspector-faint'>{formatCount(span.events.length - mostEvents, 'more event')} under “Events”.</p>
      )}
    </RunDetails>
  );
}

const mostEvents = 6;
