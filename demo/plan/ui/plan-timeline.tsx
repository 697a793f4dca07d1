import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import type { PlanSnapshot } from '../state/plan-data.ts';
import { formatDuration } from '../../kit/format.ts';

interface PlanTimelineProps {
  readonly history: readonly PlanSnapshot[];
  /** The chosen snapshot; without one, the last. */
  readonly index: number | undefined;
  readonly onLook: (index: number | undefined) => void;
}

/** Goes back and forth through what was shown of a plan. */
export function PlanTimeline({ history, index, onLook }: PlanTimelineProps): JSX.Element {
  const id = useId();
  const last = history.length - 1;
  const at = Math.min(index ?? last, last);
  const time = formatDuration((history[at]?.at ?? 0) - (history[0]?.at ?? 0));
  return (
    <div class='plan-timeline'>
      <label for={id}>Timeline</label>
      <input
        id={id}
        type='range'
        min={0}
        max={last}
        value={at}
        aria-valuetext={at === last ? `${time} (latest)` : time}
        data-testid='plan-timeline'
        onInput={({ currentTarget: { valueAsNumber } }) => onLook(valueAsNumber === last ? undefined : valueAsNumber)}
      />
      <output for={id}>{time}</output>
    </div>
  );
}
