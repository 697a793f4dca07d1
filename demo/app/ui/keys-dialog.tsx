import type { JSX } from 'preact';
import { Dialog } from '../../kit/dialog.tsx';
import type { Playground } from '../state/playground.ts';
import { keyedActions, sayKey } from './actions.ts';
import { isMac } from '../../kit/panel-cover.ts';
import { IconButton } from '../../kit/button.tsx';

/** The keys that are not those of an action. */
function otherKeys(): readonly (readonly [keys: string, does: string])[] {
  const control = isMac() ? '⌘' : 'Ctrl';
  return [
    [`${control} K`, 'Search chats, files, agents and actions'],
    [`${control} F`, 'Search in this chat'],
    ['/', 'Write a message'],
    ['Enter', 'Send the message, also while an agent is answering'],
    ['Shift Enter', 'Start a new line'],
    ['↑', 'Edit your last message, when the composer is empty'],
    ['Esc', 'Stop the answer, or close a panel or dialog'],
    ['Page Up, Page Down', 'Previous or next message'],
    ['?', 'Show keyboard shortcuts'],
  ];
}

export function KeysDialog({ playground: { overlay } }: { playground: Playground }): JSX.Element {
  const close = (): void => void (overlay.value = 'none');
  const rows = [...otherKeys(), ...keyedActions.map(({ key, title }) => [sayKey(key), title] as const)];
  return (
    <Dialog class='keys' label='Keyboard shortcuts' testId='keys' onClose={close}>
      <div class='dialog-head'>
        <h2>Keyboard shortcuts</h2>
        <IconButton icon='cross' label='Close' testId='keys-close' onClick={close} />
      </div>
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
    </Dialog>
  );
}
