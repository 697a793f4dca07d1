import type { JSX } from 'preact';
import type { Chat } from '../state/chat.ts';
import { isRunning } from '../state/chat.ts';
import type { Chats } from '../state/chats.ts';
import { IconButton } from '../../kit/button.tsx';

interface VersionsProps {
  readonly chat: Chat;
  readonly messageId: string;
  readonly chats: Pick<Chats, 'show'>;
}

/** The way between the versions of a message. Nothing where there is one. */
export function VersionSwitch({ chat, messageId, chats }: VersionsProps): JSX.Element | null {
  const versions = chat.versions.value.get(messageId);
  if (!versions) return null;
  const { ids, at } = versions;
  const isBusy = isRunning(chat);
  const step = (by: 1 | -1, label: string, icon: 'previous' | 'chevron'): JSX.Element => {
    const id = ids[at + by];
    return (
      <IconButton
        icon={icon}
        label={label}
        testId={by > 0 ? 'next-version' : 'previous-version'}
        disabled={id === undefined || isBusy}
        onClick={() => id !== undefined && chats.show(id)}
      />
    );
  };
  return (
    <span class='versions' role='group' aria-label='Versions'>
      {step(-1, 'Previous version', 'previous')}
      <span data-testid='version'>{at + 1} / {ids.length}</span>
      {step(1, 'Next version', 'chevron')}
    </span>
  );
}
