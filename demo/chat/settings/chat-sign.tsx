import type { JSX } from 'preact';
import type { Playground } from '../../app/state/playground.ts';
import { Icon } from '../../kit/icon.tsx';
import type { Chat } from '../state/chat.ts';
import { namesOf } from './chat-settings.ts';

/** Opens the settings of the chat, and shows whether it has any. */
export function ChatSign({ chat, playground }: { chat: Chat; playground: Playground }): JSX.Element {
  const names = namesOf(chat.settings.value);
  const label = names.length === 0 ? 'Chat settings' : `Chat settings: ${names.join(', ')}`;
  return (
    <button
      type='button'
      class='icon-button chat-sign'
      data-testid='open-chat-settings'
      data-set={names.length > 0}
      aria-label={label}
      aria-haspopup='dialog'
      title={label}
      onClick={() => (playground.overlay.value = 'chat-settings')}
    >
      <Icon name='sliders' />
    </button>
  );
}
