import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { modelContext } from '../../../adapters/webmcp/model-context.ts';
import { createBrowserWork } from '../state/browser-work.ts';
import type { Playground } from '../../app/state/playground.ts';
import type { Theme } from '../../app/state/theme.ts';
import { createPrivacyPage, type PrivacyPage } from '../state/privacy-page.ts';
import { oncePer } from '../../kit/hooks/once-per.ts';
import { lazy } from '../../kit/lazy.tsx';
import { OverScreen } from '../../app/frame/over-screen.tsx';
import { ContactsSection } from './contacts-section.tsx';
import { StoredSection } from './stored-section.tsx';
import { OfflineSection } from './offline-section.tsx';
import { WholeSection } from './whole-section.tsx';
import { uncover } from '../../app/state/screens.ts';

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
          <button type='button' class='button is-primary' data-testid='privacy-reload' onClick={() => page.reload()}>
            Reload the page
          </button>
        </p>
      )}
      <AppearanceSection playground={playground} />
      <ContactsSection choice={playground.settings.choice.value} />
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
        <button type='button' class='button' data-testid='open-keys' onClick={() => (overlay.value = 'keys')}>
          Keyboard shortcuts
        </button>
      </div>
    </section>
  );
}

const pageOf = oncePer(({ registry, quiet }: Playground): PrivacyPage =>
  createPrivacyPage(createBrowserWork({ registry: registry.connect(), quiet }))
);
