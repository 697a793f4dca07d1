import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { modelContext } from '../../../adapters/webmcp/model-context.ts';
import { OverScreen } from '../../app/frame/over-screen.tsx';
import type { Playground } from '../../app/state/playground.ts';
import { uncover } from '../../app/state/screens.ts';
import type { Theme } from '../../app/state/theme.ts';
import { formatCount } from '../../kit/format.ts';
import { oncePer } from '../../kit/hooks/once-per.ts';
import { lazy } from '../../kit/lazy.tsx';
import type { Offline } from '../../offline/state/offline.ts';
import type { ModelChoice } from '../../settings/state/settings.ts';
import { createBrowserWork } from '../state/browser-work.ts';
import { createPrivacyPage, type PrivacyPage } from '../state/privacy-page.ts';
import { type Contact, watchContacts } from '../worker/contacts.ts';
import { DeletedSection } from './deleted-section.tsx';
import { StoredSection } from './stored-section.tsx';
import { WholeSection } from './whole-section.tsx';

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
      title='Settings'
      back='Back to the chat'
      onBack={() => uncover(playground)}
      problem={page.problem.value}
    >
      {page.isSpent.value && page.busy.value === undefined && (
        <p class='button-row'>
          <button type='button' class='button is-primary' onClick={() => page.reload()}>
            Reload the page
          </button>
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
        <button type='button' class='button' onClick={() => (overlay.value = 'keys')}>
          Keyboard shortcuts
        </button>
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
          <button type='button' class='button' onClick={newer.take}>Load new version</button>
        </div>
      )}
    </section>
  );
}
