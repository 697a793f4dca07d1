/** The page of the vault: opened and locked, with the names of its secrets. No value stays here. */

import { type ReadonlySignal, signal } from '@preact/signals';
import type { SignInControl, SignInRow, VaultControl, VaultState } from '../../control/registry-control.ts';
import type { Answer } from '../../control/answer.ts';
import { problemOf } from '../../kit/answer-problem.ts';

export interface VaultPage {
  /** `undefined` until the first answer. */
  readonly state: ReadonlySignal<VaultState | undefined>;
  /** The sign-ins to MCP servers. */
  readonly signIns: ReadonlySignal<readonly SignInRow[]>;
  readonly isBusy: ReadonlySignal<boolean>;
  /** Why the latest action failed. */
  readonly problem: ReadonlySignal<string | undefined>;
  load(): Promise<void>;
  /** Each returns whether it succeeded. */
  unlock(passphrase: string): Promise<boolean>;
  lock(): Promise<boolean>;
  set(secretId: string, value: string, origins: string): Promise<boolean>;
  /** Declares where a secret may go: origins, as a person writes them. */
  bind(secretId: string, origins: string): Promise<boolean>;
  remove(secretId: string): Promise<boolean>;
  signOut(row: SignInRow): Promise<boolean>;
}

interface VaultPageOptions {
  readonly control: VaultControl & Pick<SignInControl, 'signIns' | 'signOut'>;
  readonly announce: (text: string) => void;
}

/** Creates the page. Calls nothing before `load`. */
export function createVaultPage({ control, announce }: VaultPageOptions): VaultPage {
  const state = signal<VaultState | undefined>(undefined);
  const signIns = signal<readonly SignInRow[]>([]);
  const isBusy = signal(false);
  const problem = signal<string | undefined>(undefined);

  async function load(): Promise<void> {
    const [answer, rows] = await Promise.all([
      control.vault().catch(() => undefined),
      control.signIns().catch(() => undefined),
    ]);
    if (answer?.ok) state.value = answer.value;
    else problem.value = problemOf(answer, 'The vault did not respond');
    if (rows?.ok) signIns.value = rows.value;
    else problem.value ??= problemOf(rows, 'The sign-ins could not be read');
  }

  async function change(asking: () => Promise<Answer<void>>, done: string): Promise<boolean> {
    isBusy.value = true;
    problem.value = undefined;
    const answer = await asking().catch(() => undefined);
    await load();
    isBusy.value = false;
    if (answer?.ok) announce(done);
    else problem.value = problemOf(answer, 'The vault did not respond');
    return answer?.ok === true;
  }

  return {
    state,
    signIns,
    isBusy,
    problem,
    load,
    unlock: (passphrase) => change(() => control.unlockVault(passphrase), 'The vault is open'),
    lock: () => change(() => control.lockVault(), 'The vault is locked'),
    set: (secretId, value, origins) =>
      change(() => control.setSecret(secretId, value, originsIn(origins)), `${secretId} is saved`),
    bind: (secretId, origins) =>
      change(() => control.bindSecret(secretId, originsIn(origins)), `Allowed sites for ${secretId} are saved`),
    remove: (secretId) => change(() => control.removeSecret(secretId), `${secretId} is removed`),
    signOut: ({ serverId, alias }) => change(() => control.signOut(serverId), `Signed out of ${alias}`),
  };
}

/** One or more addresses, apart by spaces, commas or lines; of a longer address its origin. What is none is refused by the vault. */
function originsIn(text: string): string[] {
  const written = text.split(/[\s,]+/).filter((one) => one !== '');
  return [...new Set(written.map((one) => /^https?:\/\//i.test(one) ? URL.parse(one)?.origin ?? one : one))];
}
