import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { agentOf, type Playground } from '../../app/state/playground.ts';
import { type ChatHead, restorableMs } from '../../chat/state/chat.ts';
import { Confirm } from '../../kit/confirm.tsx';
import { formatCount } from '../../kit/format.ts';

/** The chats that were deleted in the last 30 days. Nothing where there are none. */
export function DeletedSection({ playground }: { playground: Playground }): JSX.Element | null {
  const { chats, chatStore, announcement } = playground;
  const deleted = useSignal<readonly ChatHead[]>([]);
  const asking = useSignal<string | undefined>(undefined);
  const after = async (work: Promise<void>, said: string): Promise<void> => {
    await work;
    asking.value = undefined;
    announcement.value = said;
    deleted.value = await chatStore.deleted();
  };
  useEffect(() => void chatStore.deleted().then((found) => (deleted.value = found)), [chats.removed.value]);
  if (deleted.value.length === 0) return null;
  return (
    <section class='privacy-section' aria-labelledby='settings-deleted'>
      <h2 id='settings-deleted'>Recently deleted chats</h2>
      <p class='privacy-lead'>They are removed after 30 days, or when the browser’s storage is full.</p>
      <ul class='boxed privacy-list'>
        {deleted.value.map((head) => (
          <li key={head.id} data-testid='deleted-chat'>
            <span class='privacy-name' dir='auto'>{head.title || 'Untitled'}</span>
            <span class='privacy-details'>
              {agentOf(playground.agents, head.agentId).name}, {leftOf(head)} left
            </span>
            <span class='button-row'>
              <button
                type='button'
                class='button'
                data-testid='restore-chat'
                onClick={() => void after(chats.restoreDeleted(head), 'The chat is restored')}
              >
                Restore
              </button>
              {asking.value === head.id
                ? (
                  <Confirm
                    label='Delete for ever'
                    testId='purge-chat-sure'
                    onConfirm={() => void after(chatStore.purge(head.id), 'The chat is deleted')}
                    onCancel={() => (asking.value = undefined)}
                  />
                )
                : (
                  <button
                    type='button'
                    class='button'
                    data-testid='purge-chat'
                    aria-label={`Delete “${head.title || 'Untitled'}” for ever`}
                    onClick={() => (asking.value = head.id)}
                  >
                    Delete…
                  </button>
                )}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function leftOf({ deletedAt = 0 }: ChatHead): string {
  return formatCount(Math.max(1, Math.ceil((deletedAt + restorableMs - Date.now()) / 86_400_000)), 'day');
}
