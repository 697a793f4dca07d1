import type { ComponentChildren, JSX } from 'preact';
import { suggest } from '../../../src/base/check-options.ts';
import { hostOf } from '../../endpoint/state/endpoint.ts';
import { Icon } from '../../kit/icon.tsx';
import type { Playground } from '../state/playground.ts';
import { Button } from '../../kit/button.tsx';

/** What a person must know, above the composer. */
export function Notices({ playground }: { playground: Playground }): JSX.Element {
  return (
    <>
      <VersionNotice playground={playground} />
      <StorageNotice playground={playground} />
      <NowhereNotice playground={playground} />
      <DeletedNotice playground={playground} />
      <RemovedNotice playground={playground} />
      <KeyNotice playground={playground} />
    </>
  );
}

/** The addresses to offer in place of an unknown one, and what they open. */
const places: Readonly<Record<string, string>> = {
  agents: 'Agents',
  runs: 'Runs',
  'runs/schedules': 'Schedules',
  'runs/tests': 'Test cases',
  waiting: 'Waiting for you',
  files: 'Files',
  settings: 'Settings',
  guard: 'Try to trick an agent',
  'new-agent': 'New agent',
  model: 'Connect a model',
  tour: 'The tour',
};

/** The address leads nowhere: says so, and offers the nearest one. */
function NowhereNotice({ playground: { nowhere } }: { playground: Playground }): JSX.Element | null {
  const name = nowhere.value;
  if (name === undefined) return null;
  const namesOf = (path: string): string[] => [path, path.replace('runs/', '')];
  const [nearest] = suggest(name, Object.keys(places), { limit: 1, namesOf });
  return (
    <Notice
      testId='nowhere-notice'
      action={
        <>
          {nearest !== undefined && (
            <a class='button' data-testid='nowhere-nearest' href={`#/${nearest}`}>{places[nearest]}</a>
          )}
          <Button onClick={() => (nowhere.value = undefined)}>Close</Button>
        </>
      }
    >
      {name === 'c'
        ? 'The chat of this address is not in this browser. It was deleted, or belongs to another browser.'
        : `Nothing is at the address “#/${name}”.${nearest === undefined ? '' : ' Did you mean this?'}`}
    </Notice>
  );
}

/** Why chats are not stored or cannot be read, and what to do. */
function StorageNotice({ playground }: { playground: Playground }): JSX.Element | null {
  const { notStored, unreadable } = playground.chatStore;
  const open = (): void => void (playground.screen.value = { name: 'settings' });
  const count = unreadable.value;
  switch (notStored.value) {
    case 'full':
      return (
        <Notice
          testId='storage-notice'
          action={<Button onClick={open}>Free up space</Button>}
        >
          Chats are not saved: the browser’s storage for this site is full. Nothing is lost while this page stays open.
          Delete old chats or other data, and the chats are saved automatically.
        </Notice>
      );
    case 'newer':
      return (
        <Notice
          testId='storage-notice'
          action={<Button onClick={() => location.reload()}>Reload</Button>}
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
          action={<Button onClick={open}>Export it</Button>}
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
function DeletedNotice({ playground: { chats } }: { playground: Playground }): JSX.Element | null {
  const title = chats.deletedElsewhere.value;
  if (title === undefined) return null;
  return <Notice testId='deleted-notice'>“{title || 'Untitled'}” was deleted in another tab.</Notice>;
}

/** A chat was deleted here, and can be brought back. */
function RemovedNotice(
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
          <Button testId='undo-delete' onClick={undo}>Undo</Button>
          <Button testId='close-removed' onClick={() => chats.forgetRemoved()}>
            Close
          </Button>
        </>
      }
    >
      “{chat.title.value || 'Untitled'}” was deleted. Settings keeps it for 30 days.
    </Notice>
  );
}

function VersionNotice({ playground: { offline } }: { playground: Playground }): JSX.Element | null {
  const newer = offline.newVersion.value;
  if (newer === undefined) return null;
  return (
    <Notice
      testId='version-notice'
      action={<Button testId='version-reload' onClick={newer.take}>Reload</Button>}
    >
      A new version of this page is available. Reload to use it. Your chats stay.
    </Notice>
  );
}

/** The key of the last visit was not stored. */
function KeyNotice({ playground: { settings, overlay } }: { playground: Playground }): JSX.Element | null {
  const choice = settings.choice.value;
  if (choice.type !== 'endpoint' || !choice.locked) return null;
  return (
    <Notice
      testId='key-notice'
      action={
        <>
          <Button onClick={() => (overlay.value = 'settings')}>
            {choice.inVault ? 'Open the vault' : 'Enter the key'}
          </Button>
          <Button onClick={() => void settings.useRehearsal()}>Use the demo</Button>
        </>
      }
    >
      {choice.inVault
        ? `Open the vault to continue with ${choice.model}.`
        : `The key for ${hostOf(choice.baseUrl)} was not stored. Enter it again to continue with ${choice.model}.`}
    </Notice>
  );
}

/** A line with a hint. */
function Notice(
  { children, testId, action }: { children: ComponentChildren; testId?: string; action?: ComponentChildren },
): JSX.Element {
  return (
    <div class='notice' role='status' data-testid={testId}>
      <Icon name='info' />
      <p>{children}</p>
      {action}
    </div>
  );
}
