import type { JSX } from 'preact';
import type { Playground } from '../../app/state/playground.ts';
import { Icon } from '../../kit/icon.tsx';
import type { Chat } from '../state/chat.ts';
import { namesOf } from '../state/chat-settings.ts';

/** Says that the chat has settings of its own, and opens them. */
export function ChatSign({ chat, playground }: { chat: Chat; playground: Playground }): JSX.Element | null {
  const names = namesOf(chat.settings.value);
  if (names.length === 0) return null;
  const label = `Chat settings: ${names.join(', ')}`;
  return (
    <button
      type='button'
      class='icon-button chat-sign'
      data-testid='chat-sign'
      aria-label={label}
      aria-haspopup='dialog'
      title={label}
      onClick={() => (playground.overlay.value = 'chat-settings')}
    >
      <Icon name='sliders' />
    </button>
  );
}
