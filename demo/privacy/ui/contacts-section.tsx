import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { type Contact, watchContacts } from '../worker/contacts.ts';
import type { ModelChoice } from '../../settings/state/settings.ts';
import { formatCount } from '../../kit/format.ts';

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
