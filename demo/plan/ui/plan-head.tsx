import type { JSX } from 'preact';
import type { PlanSteering } from '../../control/page-control.ts';
import { isOver } from '../state/plan-data.ts';
import type { PlanView } from '../state/plan-data.ts';
import { Icon, type IconName } from '../../kit/icon.tsx';

const states: Readonly<Record<PlanView['state'], string>> = {
  new: 'Starting',
  running: 'Running',
  suspended: 'Waiting for you',
  done: 'Done',
  failed: 'Failed',
  cancelled: 'Canceled',
};

/** The state of a plan and its controls. */
export function PlanHead({ view, children }: { view: PlanView; children: JSX.Element | false }): JSX.Element {
  return (
    <header class='plan-head'>
      <Icon name='plan' />
      <h3>Plan</h3>
      <span class='plan-state' data-testid='plan-state'>
        {view.paused && !isOver(view) ? 'Paused' : states[view.state]}
      </span>
      {children}
    </header>
  );
}

interface PlanControlsProps {
  readonly isRunning: boolean;
  readonly isPaused: boolean;
  readonly onSteer: (how: PlanSteering) => void;
}

/**
 * Pauses and resumes a plan. While the page follows the plan, the composer's button cancels it. The page stops following a paused
 * plan, so these controls then resume or cancel it.
 */
export function PlanControls({ isRunning, isPaused, onSteer }: PlanControlsProps): JSX.Element {
  return (
    <>
      {isPaused && <Control testId='plan-pause' icon='play' label='Resume' onClick={() => onSteer('resume')} />}
      {isRunning && !isPaused && (
        <Control
          testId='plan-pause'
          icon='pause'
          label='Pause'
          onClick={() => onSteer('pause')}
        />
      )}
      {!isRunning && <Control testId='plan-cancel' icon='stop' label='Cancel' onClick={() => onSteer('cancel')} />}
    </>
  );
}

function Control(
  { testId, icon, label, onClick }: { testId: string; icon: IconName; label: string; onClick: () => void },
): JSX.Element {
  return (
    <button type='button' class='quiet-button' data-testid={testId} aria-label={`${label} the plan`} onClick={onClick}>
      <Icon name={icon} />
      <span>{label}</span>
    </button>
  );
}
