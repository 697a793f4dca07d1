import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { OpenedRun } from '../state/opened-run.ts';
import { Icon, type IconName } from '../../kit/icon.tsx';
import { Overview } from './overview.tsx';
import { SpanDetails } from './span-details.tsx';
import { SpanTable } from './span-table.tsx';
import { Waterfall } from './waterfall.tsx';

interface TimelineProps {
  readonly run: OpenedRun;
  /** Shows the prompt of the span that is selected. */
  readonly onPrompt: () => void;
}

/** The run's spans over time. */
export function Timeline({ run, onPrompt }: TimelineProps): JSX.Element {
  const isTable = useSignal(false);
  const isEmpty = run.rows.value.length === 0;
  if (isEmpty) return <p class='inspector-empty' data-testid='timeline-empty'>This run has no events.</p>;
  return (
    <div class='timeline' data-selected={run.selected.value !== undefined}>
      <div class='timeline-main'>
        <div class='timeline-tools' role='toolbar' aria-label='Timeline'>
          <Tool
            icon='zoomIn'
            label='Zoom in (+)'
            testId='zoom-in'
            isOff={isTable.value}
            onUse={() => run.zoom(0.5)}
          />
          <Tool
            icon='zoomOut'
            label='Zoom out (−)'
            testId='zoom-out'
            isOff={isTable.value}
            onUse={() => run.zoom(2)}
          />
          <Tool
            icon='whole'
            label='Show whole run (0)'
            testId='zoom-whole'
            isOff={isTable.value || !run.isZoomed.value}
            onUse={() => run.showAll()}
          />
          <Tool
            icon='unfold'
            label='Expand all'
            testId='open-all'
            isOff={isTable.value}
            onUse={() => run.setAll(true)}
          />
          <Tool
            icon='fold'
            label='Collapse all'
            testId='close-all'
            isOff={isTable.value}
            onUse={() => run.setAll(false)}
          />
          <Legend />
          <button
            type='button'
            class='icon-button'
            data-testid='as-table'
            aria-pressed={isTable.value}
            aria-label='Show as table'
            title='Show as table'
            onClick={() => (isTable.value = !isTable.value)}
          >
            <Icon name='table' />
          </button>
        </div>
        {isTable.value ? <SpanTable run={run} /> : (
          <>
            <Overview run={run} />
            <Waterfall run={run} />
          </>
        )}
      </div>
      <SpanDetails run={run} onPrompt={onPrompt} />
    </div>
  );
}

interface ToolProps {
  readonly icon: IconName;
  readonly label: string;
  readonly testId: string;
  readonly isOff: boolean;
  readonly onUse: () => void;
}

function Tool({ icon, label, testId, isOff, onUse }: ToolProps): JSX.Element {
  return (
    <button
      type='button'
      class='icon-button'
      aria-label={label}
      title={label}
      data-testid={testId}
      disabled={isOff}
      onClick={onUse}
    >
      <Icon name={icon} />
    </button>
  );
}

function Legend(): JSX.Element {
  return (
    <p class='timeline-legend' aria-hidden='true'>
      <span data-kind='model'>Model</span>
      <span data-kind='tool'>Tool</span>
      <span data-kind='other'>Other</span>
      <span data-status='error'>Failed</span>
    </p>
  );
}
