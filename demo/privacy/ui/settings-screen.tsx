import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { modelContext } from '../../../adapters/webmcp/model-context.ts';
import { OverScreen } from '../../app/frame/over-screen.tsx';
import { agentOf, type Playground } from '../../app/state/playground.ts';
import type { Theme } from '../../app/state/theme.ts';
import { type ChatHead, restorableMs } from '../../chat/state/chat.ts';
import { Confirm } from '../../kit/confirm.tsx';
import { formatBytes, formatCount } from '../../kit/format.ts';
import { oncePer } from '../../kit/hooks/once-per.ts';
import { lazy } from '../../kit/lazy.tsx';
import type { Offline } from '../../offline/state/offline.ts';
import type { ModelChoice } from '../../settings/state/settings.ts';
import { createBrowserWork } from '../state/browser-work.ts';
import type { Holding, Inventory } from '../state/inventory.ts';
import { createPrivacyPage, type PrivacyPage } from '../state/privacy-page.ts';
import { type Contact, watchContacts } from '../worker/contacts.ts';
import { WholeSection } from './whole-section.tsx';
import { Button } from '../../kit/button.tsx';

/** For the few browsers that have WebMCP. */
const OfferSection = lazy(async () => (await import('../../webmcp/ui/offer-section.tsx')).OfferSection);

/** Colors and keys of the page, whom it talks to, and its stored data with the ways to erase, export and import it. */
export function SettingsScreen({ playground }: { playground: Playground }): JSX.Element {
  const page = pageOf(playground);
  useEffect(() => void page.refresh(), []);
  return (
    <OverScreen
      playground={playground}
      name='settings-page'
      label='Settings'
      problem={page.problem.value}
    >
      {page.isSpent.value && page.busy.value === undefined && (
        <p class='button-row'>
          <Button kind='primary' onClick={() => page.reload()}>
            Reload the page
          </Button>
        </p>
      )}
      <AppearanceSection playground={playground} />
      <ContactsSection choice={playground.settings.choice.value} />
      <DeletedSection playground={playground} />
      <StoredSection page={page} />
      <WholeSection page={page} />
      {modelContext() && <OfferSection playground={playground} />}
      <OfflineSection offline={playground.offline} />
    </OverScreen>
  );
}

const themes: readonly (readonly [Theme, label: string])[] = [
  ['system', 'As the system'],
  ['light', 'Light'],
  ['dark', 'Dark'],
];

/** The colors and the keys of the page. */
function AppearanceSection({ playground: { theme, overlay } }: { playground: Playground }): JSX.Element {
  return (
    <section class='privacy-section' aria-labelledby='settings-colors'>
      <h2 id='settings-colors'>Colors and keys</h2>
      <div class='button-row'>
        <div class='where-switch' role='group' aria-label='Colors'>
          {themes.map(([name, label]) => (
            <button
              key={name}
              type='button'
              data-testid={`theme-${name}`}
              aria-pressed={name === theme.value}
              onClick={() => (theme.value = name)}
            >
              {label}
            </button>
          ))}
        </div>
        <Button onClick={() => (overlay.value = 'keys')}>
          Keyboard shortcuts
        </Button>
      </div>
    </section>
  );
}

const pageOf = oncePer(({ registry, quiet }: Playground): PrivacyPage =>
  createPrivacyPage(createBrowserWork({ registry: registry.connect(), quiet }))
);

/** Which hosts the page has talked to. */
export function ContactsSection({ choice }: { choice: ModelChoice }): JSX.Element {
  const contacts = useSignal<readonly Contact[] | undefined>(undefined);
  useEffect(() => watchContacts((found) => (contacts.value = found)), []);
  const found = contacts.value;
  return (
    <section class='privacy-section' aria-labelledby='privacy-contacts'>
      <h2 id='privacy-contacts'>Network activity</h2>
      <p class='privacy-lead'>
        Requests to other hosts from all open tabs of this page.
      </p>
      {found === undefined && <p class='privacy-faint' aria-busy='true'>Loading…</p>}
      {found?.length === 0 && (
        <p data-testid='contacts-none'>
          No requests. Agents answer from this page until you connect a model or a server.
        </p>
      )}
      <ul class='boxed privacy-list'>
        {found?.map(({ origin, requests }) => (
          <li key={origin} data-testid='contact' data-origin={origin}>
            <span class='privacy-name'>{origin}</span>
            <span class='privacy-figure'>{formatCount(requests, 'request')}</span>
            <span class='privacy-details'>{reasonOf(origin, choice)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function reasonOf(origin: string, choice: ModelChoice): string {
  if (choice.type === 'endpoint' && URL.parse(choice.baseUrl)?.origin === origin) {
    return 'The model you connected';
  }
  if (choice.type === 'pinnace' && URL.parse(choice.url)?.origin === origin) return 'Your Pinnace server';
  return 'A provider, MCP server or tool that you registered, or an endpoint that you connected before';
}

/** Whether the page opens without a network. */
export function OfflineSection({ offline: { isStored, newVersion } }: { offline: Offline }): JSX.Element {
  const newer = newVersion.value;
  return (
    <section class='privacy-section' aria-labelledby='privacy-offline'>
      <h2 id='privacy-offline'>Offline</h2>
      <p data-stored={isStored.value}>
        {isStored.value
          ? 'The page and its agents work offline. Only models and servers that you connect need a network.'
          : 'Offline use is not available: this browser does not allow it, or the page comes from a development server.'}
      </p>
      {newer && (
        <div class='button-row'>
          <Button onClick={newer.take}>Load new version</Button>
        </div>
      )}
    </section>
  );
}

/** The chats that were deleted in the last 30 days. Nothing where there are none. */
export function DeletedSection({ playground }: { playground: Playground }): JSX.Element | null {
  const { chats, chatStore, announcement } = playground;
  const deleted = useSignal<readonly ChatHead[]>([]);
  const asking = useSignal<string | undefined>(undefined);
  const after = async (work: Promise<void>, said: string): Promise<void> => {
    await work;
    asking.value = undefined;
    announcement.value = said;
    deleted.value = await chatStore.deleted();
  };
  useEffect(() => void chatStore.deleted().then((found) => (deleted.value = found)), [chats.removed.value]);
  if (deleted.value.length === 0) return null;
  return (
    <section class='privacy-section' aria-labelledby='settings-deleted'>
      <h2 id='settings-deleted'>Recently deleted chats</h2>
      <p class='privacy-lead'>They are removed after 30 days, or when the browser’s storage is full.</p>
      <ul class='boxed privacy-list'>
        {deleted.value.map((head) => (
          <li key={head.id} data-testid='deleted-chat'>
            <span class='privacy-name' dir='auto'>{head.title || 'Untitled'}</span>
            <span class='privacy-details'>
              {agentOf(playground.agents, head.agentId).name}, {leftOf(head)} left
            </span>
            <span class='button-row'>
              <Button
                testId='restore-chat'
                onClick={() => void after(chats.restoreDeleted(head), 'The chat is restored')}
              >
                Restore
              </Button>
              {asking.value === head.id
                ? (
                  <Confirm
                    label='Delete for ever'
                    testId='purge-chat-sure'
                    onConfirm={() => void after(chatStore.purge(head.id), 'The chat is deleted')}
                    onCancel={() => (asking.value = undefined)}
                  />
                )
                : (
                  <Button
                    testId='purge-chat'
                    aria-label={`Delete “${head.title || 'Untitled'}” for ever`}
                    onClick={() => (asking.value = head.id)}
                  >
                    Delete…
                  </Button>
                )}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function leftOf({ deletedAt = 0 }: ChatHead): string {
  return formatCount(Math.max(1, Math.ceil((deletedAt + restorableMs - Date.now()) / 86_400_000)), 'day');
}

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
          <Button
            testId='erase'
            disabled={page.busy.value !== undefined || page.isSpent.value}
            onClick={() => page.ask(true)}
          >
            Erase everything…
          </Button>
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
          <Button kind='danger' testId='erase-now' disabled={isErasing} onClick={() => void page.erase()}>
            {isErasing ? 'Erasing…' : 'Erase everything'}
          </Button>
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
