import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Holding, Inventory } from '../state/inventory.ts';
import type { PrivacyPage } from '../state/privacy-page.ts';
import { formatBytes, formatCount } from '../../kit/format.ts';

/** Data in this browser, and the button that erases it. */
export function StoredSection({ page }: { page: PrivacyPage }): JSX.Element {
  const inventory = page.inventory.value;
  return (
    <section class='privacy-section' aria-labelledby='privacy-stored'>
      <h2 id='privacy-stored'>Data in this browser</h2>
      <p class='privacy-lead'>
        Everything stays on this device. Model keys are stored only if you save them in the encrypted vault.
      </p>
      {inventory ? <Holdings inventory={inventory} /> : <p class='privacy-faint' aria-busy='true'>Loading…</p>}
      {page.isAsked.value ? <Question page={page} /> : (
        <div class='button-row'>
          <button
            type='button'
            class='button'
            data-testid='erase'
            disabled={page.busy.value !== undefined || page.isSpent.value}
            onClick={() => page.ask(true)}
          >
            Erase everything…
          </button>
        </div>
      )}
    </section>
  );
}

function Question({ page }: { page: PrivacyPage }): JSX.Element {
  const keep = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => keep.current?.focus(), []);
  const isErasing = page.busy.value === 'erase';
  return (
    <div class='callout is-warning privacy-question' role='alert' data-testid='erase-question'>
      <div>
        <h3>Erase everything?</h3>
        <p>
          This deletes your chats, agents, tree, plans, knowledge files, runs, secrets and settings, in all tabs of this
          page. They cannot be recovered. The page then starts empty.
        </p>
        <div class='button-row'>
          <button
            ref={keep}
            type='button'
            class='button'
            disabled={isErasing}
            onClick={() => page.ask(false)}
          >
            Keep everything
          </button>
          <button
            type='button'
            class='button is-danger'
            data-testid='erase-now'
            disabled={isErasing}
            onClick={() => void page.erase()}
          >
            {isErasing ? 'Erasing…' : 'Erase everything'}
          </button>
        </div>
      </div>
    </div>
  );
}

function Holdings({ inventory: { holdings, usage, quota, isPersistent } }: { inventory: Inventory }): JSX.Element {
  return (
    <>
      {holdings.length === 0
        ? <p class='privacy-faint'>Nothing yet.</p>
        : (
          <ul class='boxed privacy-list' data-testid='holdings'>
            {holdings.map((holding) => <Row key={`${holding.kind} ${holding.name}`} holding={holding} />)}
          </ul>
        )}
      {usage !== undefined && quota !== undefined && (
        <p class='privacy-faint'>
          This site uses {formatBytes(usage)} of the {formatBytes(quota)} that the browser allows. The browser{' '}
          {isPersistent ? 'keeps it even when space is low.' : 'may remove it when space is low.'}
        </p>
      )}
    </>
  );
}

const titles: Readonly<Record<string, string>> = {
  'pinnace': 'Agents, tools, tree, plans, knowledge, notes and run logs',
  'pinnace-playground': 'Chats',
  'pinnace-runs': 'Runs in the inspector',
  'pinnace-vault:pinnace-vault': 'Secrets, encrypted with your passphrase',
};

function Row({ holding }: { holding: Holding }): JSX.Element {
  const { kind, name, stores } = holding;
  const count = stores.reduce((sum, store) => sum + store.count, 0);
  const bytes = stores.reduce((sum, store) => sum + store.bytes, 0);
  return (
    <li data-testid='holding' data-name={name}>
      <span class='privacy-name'>{titleOf(holding)}</span>
      <span class='privacy-figure'>
        {kind === 'worker' ? 'installed' : `${formatCount(count, nouns[kind])}, about ${formatBytes(bytes)}`}
      </span>
      <span class='privacy-details'>
        <code>{name}</code>
        {kind !== 'worker' && stores.length > 1 && (
          <span>{stores.map((store) => `${store.name}: ${formatCount(store.count, nouns[kind])}`).join(', ')}</span>
        )}
      </span>
    </li>
  );
}

const nouns = { database: 'item', settings: 'setting', files: 'file', worker: '' } as const;

function titleOf({ kind, name }: Holding): string {
  if (kind === 'settings') return 'Settings: theme, model address and tour progress';
  if (kind === 'files') return 'This page, for offline use';
  return kind === 'worker'
    ? 'Service worker, which opens this page offline'
    : titles[name] ?? 'Other data of this page';
}
