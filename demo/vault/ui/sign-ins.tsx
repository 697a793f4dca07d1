import type { JSX } from 'preact';
import type { SignInRow } from '../../control/registry-control.ts';
import { formatTime } from '../../kit/format.ts';
import type { VaultPage } from '../state/vault-page.ts';

/** The sign-ins to MCP servers: where, for what, until when. Tokens are never shown. */
export function SignIns({ vault }: { vault: VaultPage }): JSX.Element {
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
      <button
        type='button'
        class='quiet-button'
        aria-label={`Sign out of ${alias}`}
        data-testid='sign-out'
        disabled={vault.isBusy.value || state === 'locked'}
        onClick={() => void vault.signOut(row)}
      >
        Sign out
      </button>
    </li>
  );
}
