import type { JSX } from 'preact';
import type { Offline } from '../../offline/state/offline.ts';

/** Whether the page opens without a network. */
export function OfflineSection({ offline: { isStored, newVersion } }: { offline: Offline }): JSX.Element {
  const newer = newVersion.value;
  return (
    <section class='privacy-section' aria-labelledby='privacy-offline'>
      <h2 id='privacy-offline'>Offline</h2>
      <p data-testid='offline-state' data-stored={isStored.value}>
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
