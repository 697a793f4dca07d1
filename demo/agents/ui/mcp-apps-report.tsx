import type { JSX } from 'preact';
import type { McpValidation } from '../../../src/registry/index.ts';
import { formatCount } from '../../kit/format.ts';
import type { McpCheck } from '../state/mcp-check.ts';
import { Fingerprint } from './offer-text.tsx';

type OfferedApp = NonNullable<McpValidation['apps']>[number];

/** The apps that an approval covers, and what each may reach. */
export function McpAppsReport({ apps, check }: { apps: readonly OfferedApp[]; check: McpCheck }): JSX.Element {
  const included = apps.filter((app) => app.included).length;
  return (
    <div data-testid='mcp-apps'>
      <p class='registry-faint'>
        Apps: {included} of {apps.length} will be approved. Each is shown in a frame of its own.
      </p>
      <ul class='boxed registry-rows' aria-label='Apps'>
        {apps.map((app) => <Item key={app.uri} app={app} check={check} />)}
      </ul>
    </div>
  );
}

function Item({ app, check }: { app: OfferedApp; check: McpCheck }): JSX.Element {
  const { uri, label, sha256, bytes, csp, tools, change, included } = app;
  const origins = [...new Set([...csp.connect, ...csp.resource])];
  const word = { same: 'as approved', changed: 'changed', added: 'new' }[change];
  return (
    <li data-testid='mcp-app-offer' data-uri={uri} data-included={included}>
      <span class='registry-row-name'>{uri}</span>
      <span class='chip registry-badge' data-badge={change === 'changed' ? 'drifted' : change}>
        {included ? word : 'left out'}
      </span>
      <p class='registry-offer-text'>
        Shows {tools.join(', ')}; {formatCount(bytes, 'byte')}.{' '}
        {origins.length === 0 ? 'It reaches no network.' : `It may reach ${origins.join(', ')}.`}
      </p>
      <div class='registry-offer'>
        <label class='check'>
          <input
            type='checkbox'
            checked={check.leftOut.value.includes(label)}
            disabled={check.isBusy.value}
            onChange={() => void check.toggle(label)}
          />
          Leave out
        </label>
      </div>
      <Fingerprint value={sha256} />
    </li>
  );
}
