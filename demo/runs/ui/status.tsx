import type { JSX } from 'preact';
import type { EventStatus } from '../../../src/contracts/event-sink.ts';
import { Icon, type IconName } from '../../kit/icon.tsx';

const looks: Readonly<Record<EventStatus, { readonly icon: IconName; readonly word: string }>> = {
  pending: { icon: 'wait', word: 'started' },
  ok: { icon: 'check', word: 'done' },
  error: { icon: 'cross', word: 'failed' },
  denied: { icon: 'hand', word: 'denied' },
  cancelled: { icon: 'stop', word: 'stopped' },
};

/** The state of an action as a colored mark; the word is for screen readers. */
export function Status({ status }: { status: EventStatus }): JSX.Element {
  return (
    <span class='span-status' data-status={status} title={wordOf(status)}>
      <Icon name={looks[status].icon} />
      <span class='visually-hidden'>{wordOf(status)}</span>
    </span>
  );
}

export function wordOf(status: EventStatus): string {
  return looks[status].word;
}
