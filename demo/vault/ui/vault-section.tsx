import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import type { SignInRow, VaultState } from '../../control/registry-control.ts';
import { formatTime } from '../../kit/format.ts';
import { GuideLink } from '../../kit/guide-link.tsx';
import { Problem } from '../../kit/problem.tsx';
import { sealSecret } from '../../mcp/seal-secret.ts';
import type { VaultPage } from '../state/vault-page.ts';
import { Button } from '../../kit/button.tsx';

/** The vault: its passphrase, the names of its secrets, and a form for one more. Values go in and are never shown. */
export function VaultSection({ vault }: { vault: VaultPage }): JSX.Element {
  const state = vault.state.value;
  return (
    <div class='registry-page' data-testid='vault' data-open={state?.isOpen}>
      <p class='registry-faint'>
        Agents, tools and providers refer to secrets by name. The values are encrypted in this browser and cannot be
        displayed.
      </p>
      <Problem text={vault.problem.value} testId='vault-problem' />
      {state &&
        (state.isOpen ? <OpenVault vault={vault} /> : <Unlock vault={vault} isNew={state.secrets.length === 0} />)}
      {state && <Secrets vault={vault} state={state} />}
      {vault.signIns.value.length > 0 && <SignIns vault={vault} />}
    </div>
  );
}

function Unlock({ vault, isNew }: { vault: VaultPage; isNew: boolean }): JSX.Element {
  const passphrase = useSignal('');
  return (
    <form
      class='registry-inline'
      onSubmit={(event) => {
        event.preventDefault();
        void vault.unlock(passphrase.value);
        passphrase.value = '';
      }}
    >
      <Secret
        label='Passphrase'
        testId='vault-passphrase'
        help={isNew ? 'Choose a passphrase of at least 8 characters. It cannot be recovered.' : ''}
        value={passphrase.value}
        onInput={(value) => (passphrase.value = value)}
      />
      <Button
        type='submit'
        kind='primary'
        testId='vault-unlock'
        disabled={vault.isBusy.value || passphrase.value === ''}
      >
        {vault.isBusy.value ? 'Opening…' : isNew ? 'Create vault' : 'Open vault'}
      </Button>
    </form>
  );
}

function OpenVault({ vault }: { vault: VaultPage }): JSX.Element {
  const id = useId();
  const name = useSignal('');
  const value = useSignal('');
  const origins = useSignal('');
  const set = async (): Promise<void> => {
    const isDone = await vault.set(name.value.trim(), value.value, origins.value);
    value.value = '';
    if (isDone) name.value = origins.value = '';
  };
  return (
    <form
      class='registry-inline'
      onSubmit={(event) => {
        event.preventDefault();
        void set();
      }}
    >
      <div class='field'>
        <label for={id}>Name</label>
        <input
          id={id}
          type='text'
          autocomplete='off'
          data-testid='vault-name'
          value={name.value}
          onInput={({ currentTarget }) => (name.value = currentTarget.value)}
        />
      </div>
      <Secret
        label='Value'
        testId='vault-value'
        help='At least 8 characters. Replaces the value of a secret with the same name.'
        value={value.value}
        onInput={(written) => (value.value = written)}
      />
      <Origins
        label='Allowed sites'
        testId='vault-origins'
        value={origins.value}
        onInput={(written) => (origins.value = written)}
      />
      <div class='button-row'>
        <Button
          type='submit'
          kind='primary'
          testId='vault-set'
          disabled={vault.isBusy.value || [name, value, origins].some((field) => field.value.trim() === '')}
        >
          Save secret
        </Button>
        <Button testId='vault-lock' onClick={() => void vault.lock()}>
          Lock vault
        </Button>
      </div>
    </form>
  );
}

interface SecretProps {
  readonly label: string;
  readonly testId: string;
  readonly help: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
}

function Secret({ label, testId, help, value, onInput }: SecretProps): JSX.Element {
  const id = useId();
  return (
    <div class='field'>
      <label for={id}>{label}</label>
      <input
        id={id}
        type='password'
        autocomplete='off'
        data-testid={testId}
        aria-describedby={help === '' ? undefined : `${id}-help`}
        value={value}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
      {help !== '' && <p id={`${id}-help`} class='field-help'>{help}</p>}
    </div>
  );
}

interface OriginsProps extends Omit<SecretProps, 'help'> {}

/** The sites that a secret may be sent to. */
function Origins({ label, testId, value, onInput }: OriginsProps): JSX.Element {
  const id = useId();
  return (
    <div class='field'>
      <label for={id}>{label}</label>
      <input
        id={id}
        type='text'
        inputMode='url'
        autocomplete='off'
        placeholder='https://api.example.com'
        data-testid={testId}
        aria-describedby={`${id}-help`}
        value={value}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
      <p id={`${id}-help`} class='field-help'>Separate sites with spaces. The secret is never sent to other sites.</p>
    </div>
  );
}

/** Changes where a secret may go; its value stays. */
function Binding({ vault, id, origins }: { vault: VaultPage; id: string; origins: readonly string[] }): JSX.Element {
  const written = useSignal(origins.join(' '));
  return (
    <details>
      <summary>{origins.length === 0 ? 'No allowed sites: the secret is never sent' : origins.join(', ')}</summary>
      <form
        class='registry-inline'
        onSubmit={(event) => {
          event.preventDefault();
          void vault.bind(id, written.value);
        }}
      >
        <Origins
          label={`Allowed sites for ${id}`}
          testId='vault-bind-origins'
          value={written.value}
          onInput={(text) => (written.value = text)}
        />
        <Button type='submit' testId='vault-bind' disabled={vault.isBusy.value}>Save sites</Button>
      </form>
    </details>
  );
}

function Secrets({ vault, state: { secrets: all, isOpen } }: { vault: VaultPage; state: VaultState }): JSX.Element {
  const secrets = all.filter(({ id }) => id !== sealSecret);
  if (secrets.length === 0) {
    return (
      <p class='registry-faint' data-testid='vault-empty'>
        No secrets yet. <GuideLink page='secrets'>About secrets</GuideLink>
      </p>
    );
  }
  return (
    <ul class='boxed registry-rows vault-secrets' aria-label='Secrets'>
      {secrets.map(({ id, origins }) => (
        <li key={id} data-testid='vault-secret' data-id={id}>
          <span class='registry-row-name'>{id}</span>
          {isOpen
            ? <Binding key={origins.join()} vault={vault} id={id} origins={origins} />
            : <span class='registry-faint'>{origins.join(', ')}</span>}
          <Button
            kind='quiet'
            aria-label={`Remove ${id}`}
            disabled={vault.isBusy.value}
            onClick={() => void vault.remove(id)}
          >
            Remove
          </Button>
        </li>
      ))}
    </ul>
  );
}

/** The sign-ins to MCP servers: where, for what, until when. Tokens are never shown. */
function SignIns({ vault }: { vault: VaultPage }): JSX.Element {
  return (
    <section>
      <h2>Sign-ins to MCP servers</h2>
      <ul class='boxed registry-rows vault-secrets' aria-label='Sign-ins to MCP servers'>
        {vault.signIns.value.map((row) => <Row key={row.serverId} row={row} vault={vault} />)}
      </ul>
    </section>
  );
}

const states: Readonly<Record<SignInRow['state'], string>> = {
  active: 'Signed in',
  broken: 'No longer valid: sign in again',
  locked: 'Open the vault to use this sign-in',
};

function Row({ row, vault }: { row: SignInRow; vault: VaultPage }): JSX.Element {
  const { serverId, alias, issuer, resource, scopes, state, expiresAt } = row;
  return (
    <li data-testid='sign-in-row' data-id={serverId} data-state={state}>
      <span class='registry-row-name'>{alias}</span>
      <span class='registry-faint'>
        {states[state]} at {issuer}, for {resource}
        {scopes.length > 0 && `; scopes: ${scopes.join(' ')}`}
        {expiresAt !== undefined && `; token until ${formatTime(new Date(expiresAt).toISOString())}`}
      </span>
      <Button
        kind='quiet'
        testId='sign-out'
        aria-label={`Sign out of ${alias}`}
        disabled={vault.isBusy.value || state === 'locked'}
        onClick={() => void vault.signOut(row)}
      >
        Sign out
      </Button>
    </li>
  );
}
