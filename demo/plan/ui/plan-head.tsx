import type { JSX } from 'preact';
import type { PlanSteering } from '../../control/page-control.ts';
import { isOver } from '../state/plan-data.ts';
import type { PlanView } from '../state/plan-data.ts';
import { RunStatus } from '../../kit/run-status.tsx';
import { Icon, type IconName } from '../../kit/icon.tsx';

/** The state of a plan and its controls. */
export function PlanHead(
  { view, isAsking, children }: { view: PlanView; isAsking: boolean; children: JSX.Element | false },
): JSX.Element {
  const state = view.state === 'suspended' && !isAsking ? 'running' : view.state; // it has its answers, and goes on
  return (
    <header class='plan-head'>
      <Icon name='plan' />
      <h3>Plan</h3>
      <span class='plan-state' data-testid='plan-state'>
        <RunStatus state={view.paused && !isOver(view) ? 'paused' : state} />
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
