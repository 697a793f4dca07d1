import type { JSX } from 'preact';
import { Dialog } from '../../kit/dialog.tsx';
import type { Playground } from '../state/playground.ts';
import { isMac, keyedActions, sayKey } from './actions.ts';

/** The keys that are not those of an action. */
function otherKeys(): readonly (readonly [keys: string, does: string])[] {
  const control = isMac() ? '⌘' : 'Ctrl';
  return [
    [`${control} K`, 'Go to an action, a page, a chat, or words in your chats'],
    [`${control} F`, 'Search in this chat'],
    ['/', 'Write a message'],
    ['Enter', 'Send the message; while an agent answers, to that agent'],
    ['Shift Enter', 'Start a new line'],
    ['↑', 'Edit the last message, in an empty composer'],
    ['Esc', 'Stop the answer, or close what is open'],
    ['Page Up, Page Down', 'Go to the message before or after'],
    ['?', 'Show these keys'],
  ];
}

/** Every key of the page. */
export function KeysDialog({ playground: { overlay } }: { playground: Playground }): JSX.Element {
  const rows = [...otherKeys(), ...keyedActions.map(({ key, title }) => [sayKey(key), title] as const)];
  return (
    <Dialog class='keys' label='Keyboard shortcuts' testId='keys' onClose={() => (overlay.value = 'none')}>
      <h2>Keyboard shortcuts</h2>
      <dl class='key-list'>
        {rows.map(([keys, does]) => (
          <div key={keys} data-testid='key'>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <button type='button' class='button' data-testid='keys-close' onClick={() => (overlay.value = 'none')}>
        Close
      </button>
    </Dialog>
  );
}
