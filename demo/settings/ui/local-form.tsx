import { type Signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { FoundServer } from '../state/local-servers.ts';
import { CopyButton } from '../../kit/copy-button.tsx';
import { Button } from '../../kit/button.tsx';

interface LocalFormProps {
  /** What was found; `undefined` before the first look. */
  readonly found: Signal<readonly FoundServer[] | undefined>;
  readonly look: () => Promise<readonly FoundServer[]>;
}

/** Model servers on this computer. Nothing is requested before the button is pressed. */
export function LocalForm({ found, look }: LocalFormProps): JSX.Element {
  const isLooking = useSignal(false);
  const onLook = async (): Promise<void> => {
    isLooking.value = true;
    found.value = await look();
    isLooking.value = false;
  };
  return (
    <div class='fields' data-testid='local-servers' data-looked={found.value !== undefined}>
      <div class='button-row'>
        <Button testId='local-look' disabled={isLooking.value} onClick={() => void onLook()}>
          {isLooking.value ? 'Looking…' : found.value ? 'Search again' : 'Find models on this computer'}
        </Button>
      </div>
      <div role='status'>{found.value && <Found found={found.value} />}</div>
    </div>
  );
}

function Found({ found }: { found: readonly FoundServer[] }): JSX.Element {
  if (found.some(({ state }) => state.type === 'blocked')) {
    return (
      <p class='field-error'>
        The browser does not let this page reach programs on this computer. Allow “Apps on device” (or “Local network
        access”) in the site settings, left of the address, then look again.
      </p>
    );
  }
  const here = found.filter(({ state }) => state.type !== 'absent');
  return (
    <div class='fields'>
      {here.length === 0 && (
        <p class='field-help' data-testid='local-none'>
          None of {listed(found)}{' '}
          answered at its usual address. Start one, then look again. If yours has another address, choose “A model
          server” and enter it.
        </p>
      )}
      <Models found={here} />
      {here.map(({ server, state }) =>
        state.type === 'key' && (
          <p key={server.id} class='field-help'>
            {server.name} is running and wants a key. Choose “A model server” and enter {server.baseUrl} with its key.
          </p>
        )
      )}
      {here.map((one) => one.state.type === 'refused' && <Refused key={one.server.id} {...one} />)}
    </div>
  );
}

function Models({ found }: { found: readonly FoundServer[] }): JSX.Element | null {
  const open = found.flatMap(({ server, state }) => state.type === 'open' ? [{ server, models: state.models }] : []);
  if (open.length === 0) return null;
  return (
    <label class='field'>
      <span class='field-label'>Model</span>
      <select name='local' data-testid='local-model'>
        {open.map(({ server, models }) => (
          <optgroup key={server.id} label={models.length === 0 ? `${server.name}: it has no model yet` : server.name}>
            {models.map((model) => <option key={model} value={`${server.baseUrl} ${model}`}>{model}</option>)}
          </optgroup>
        ))}
      </select>
    </label>
  );
}

/** It runs, and its answer is kept from this page. */
function Refused({ server }: FoundServer): JSX.Element {
  return (
    <div class='local-fix' data-testid='local-refused' data-server={server.id}>
      <p>
        <strong>{server.name}</strong> is running and does not allow this page. Allow it, then look again:
      </p>
      <ul>
        {server.fixes(location.origin).map(({ where, line }) => (
          <li key={line}>
            <code data-testid='local-line'>{line}</code>
            <CopyButton text={() => line} label='Copy' />
            <span class='field-help'>{where}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function listed(found: readonly FoundServer[]): string {
  return new Intl.ListFormat('en').format(found.map(({ server }) => server.name));
}
