import type { JSX } from 'preact';
import type { Playground } from '../state/playground.ts';
import { Notice } from '../../kit/notice.tsx';

/** Why chats are not stored or cannot be read, and what to do. */
export function StorageNotice({ playground }: { playground: Playground }): JSX.Element | null {
  const { notStored, unreadable } = playground.chatStore;
  const open = (): void => void (playground.privacy.isShown.value = true);
  const count = unreadable.value;
  switch (notStored.value) {
    case 'full':
      return (
        <Notice
          testId='storage-notice'
          action={<button type='button' class='button' data-testid='make-room' onClick={open}>Free up space</button>}
        >
          Chats are not saved: the browser’s storage for this site is full. Nothing is lost while this page stays open.
          Delete old chats or other data, and the chats are saved automatically.
        </Notice>
      );
    case 'newer':
      return (
        <Notice
          testId='storage-notice'
          action={<button type='button' class='button' onClick={() => location.reload()}>Reload</button>}
        >
          A newer version of this page wrote the stored data. This version does not change it and saves nothing. Reload
          to get the newer version.
        </Notice>
      );
    case 'blocked':
      return (
        <Notice testId='storage-notice'>
          Chats are not saved: the browser provides no storage (a private window?). They are lost when the page closes.
        </Notice>
      );
    case undefined:
      if (count === 0) return null;
      return (
        <Notice
          testId='unreadable-notice'
          action={<button type='button' class='button' onClick={open}>Export it</button>}
        >
          {count === 1 ? 'A chat or message' : `${count} chats or messages`}{' '}
          cannot be read. Nothing is changed there: an export takes it along as it is.
        </Notice>
      );
    default:
      return notStored.value satisfies never;
  }
}

/** The open chat was deleted in another tab. */
export function DeletedNotice({ playground: { chats } }: { playground: Playground }): JSX.Element | null {
  const title = chats.deletedElsewhere.value;
  if (title === undefined) return null;
  return <Notice testId='deleted-notice'>“{title || 'Untitled'}” was deleted in another tab.</Notice>;
}

/** A chat was deleted here, and can be brought back. */
export function RemovedNotice(
  { playground: { chats, focusRequests } }: { playground: Playground },
): JSX.Element | null {
  const chat = chats.removed.value;
  if (!chat) return null;
  const undo = (): void => {
    void chats.undoRemove();
    focusRequests.value++;
  };
  return (
    <Notice
      testId='removed-notice'
      action={
        <>
          <button type='button' class='button' data-testid='undo-delete' onClick={undo}>Undo</button>
          <button type='button' class='button' data-testid='close-removed' onClick={() => chats.forgetRemoved()}>
            Close
          </button>
        </>
      }
    >
      “{chat.title.value || 'Untitled'}” was deleted.
    </Notice>
  );
}
