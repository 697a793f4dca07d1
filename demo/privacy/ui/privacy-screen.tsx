import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { modelContext } from '../../../adapters/webmcp/model-context.ts';
import { createBrowserWork } from '../state/browser-work.ts';
import type { Playground } from '../../app/state/playground.ts';
import { createPrivacyPage, type PrivacyPage } from '../state/privacy-page.ts';
import { oncePer } from '../../kit/hooks/once-per.ts';
import { lazy } from '../../kit/lazy.tsx';
import { OverScreen } from '../../kit/over-screen.tsx';
import { ContactsSection } from './contacts-section.tsx';
import { StoredSection } from './stored-section.tsx';
import { OfflineSection } from './offline-section.tsx';
import { WholeSection } from './whole-section.tsx';

/** For the few browsers that have WebMCP. */
const OfferSection = lazy(async () => (await import('../../webmcp/ui/offer-section.tsx')).OfferSection);

/** The page's stored data, and how to erase, export and import it. */
export function PrivacyScreen({ playground }: { playground: Playground }): JSX.Element {
  const page = pageOf(playground);
  useEffect(() => void page.refresh(), []);
  return (
    <OverScreen
      playground={playground}
      name='privacy'
      label='Privacy and data'
      title='Privacy and data'
      back='Back to the chat'
      onBack={() => (playground.privacy.isShown.value = false)}
      onClose={undefined}
      problem={page.problem.value}
    >
      {page.isSpent.value && page.busy.value === undefined && (
        <p class='button-row'>
          <button type='button' class='button is-primary' data-testid='privacy-reload' onClick={() => page.reload()}>
            Reload the page
          </button>
        </p>
      )}
      <ContactsSection choice={playground.settings.choice.value} />
      <StoredSection page={page} />
      <WholeSection page={page} />
      {modelContext() && <OfferSection playground={playground} />}
      <OfflineSection offline={playground.offline} />
    </OverScreen>
  );
}

const pageOf = oncePer(({ registry, privacy }: Playground): PrivacyPage =>
  createPrivacyPage(createBrowserWork({ registry: registry.connect(), quiet: privacy.quiet }))
);
