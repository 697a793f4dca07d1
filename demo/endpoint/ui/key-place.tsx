import { type Signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { FieldErrors } from '../../kit/field.tsx';
import type { ModelChoice } from '../../settings/state/settings.ts';
import type { VaultControl, VaultState } from '../../control/registry-control.ts';
import { Field } from '../../kit/field.tsx';

interface KeyPlaceProps {
  readonly choice: ModelChoice;
  readonly errors: Signal<FieldErrors>;
  readonly connectVault: () => VaultControl;
}

/** How long a key is kept: with this tab, or encrypted in the vault. */
export function KeyPlace({ choice, errors, connectVault }: KeyPlaceProps): JSX.Element {
  const inVault = useSignal(choice.type === 'endpoint' && choice.inVault === true);
  const vault = useSignal<VaultState | undefined>(undefined);
  useEffect(() => {
    if (!inVault.value || vault.value) return;
    void connectVault().vault().then((answer) => (vault.value = answer.ok ? answer.value : undefined));
  }, [inVault.value]);
  const isNew = vault.value?.secrets.length === 0;
  return (
    <fieldset class='fields key-place'>
      <legend class='field-label'>Where to keep the key</legend>
      <label class='tick'>
        <input
          type='radio'
          name='keep'
          value='session'
          checked={!inVault.value}
          onChange={() => (inVault.value = false)}
        />
        In this tab only
      </label>
      <label class='tick'>
        <input
          type='radio'
          name='keep'
          value='vault'
          checked={inVault.value}
          data-testid='keep-vault'
          onChange={() => (inVault.value = true)}
        />
        In the vault, encrypted with a passphrase
      </label>
      {inVault.value && vault.value && !vault.value.isOpen && (
        <Field
          name='passphrase'
          label='Vault passphrase'
          isSecret
          testId='settings-passphrase'
          value=''
          placeholder=''
          help={isNew ? 'Create a passphrase (8+ characters). It cannot be recovered.' : 'Opens the vault in this tab.'}
          error={errors.value.passphrase}
        />
      )}
    </fieldset>
  );
}
