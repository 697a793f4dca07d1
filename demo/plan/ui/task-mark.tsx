import type { JSX } from 'preact';
import type { TaskLook } from '../state/task-look.ts';
import { Icon, type IconName } from '../../kit/icon.tsx';

const icons: Readonly<Record<Exclude<TaskLook, 'work'>, IconName>> = {
  done: 'check',
  failed: 'cross',
  cancelled: 'stop',
  next: 'play',
  asks: 'question',
  waits: 'wait',
};

export function TaskMark({ look }: { look: TaskLook }): JSX.Element {
  return (
    <span class='plan-task-state' data-look={look}>
      {look === 'work' ? <span class='spinner' /> : <Icon name={icons[look]} />}
    </span>
  );
}
