import type { JSX } from 'preact';
import { hostOf } from '../../state/endpoint.ts';
import { CopyButton } from '../copy-button.tsx';

/** Instead of a run that was at an endpoint: this page was told its stream, not its events. */
export function Elsewhere({ url, traceId }: { url: string; traceId: string }): JSX.Element {
  return (
    <div class='inspector-empty' data-testid='run-elsewhere'>
      <p>
        This run was at{' '}
        <strong>{hostOf(url)}</strong>, which keeps its events itself. Its operators find them by the trace:
      </p>
      <p>
        <code>{traceId}</code> <CopyButton text={() => traceId} label='Copy' />
      </p>
    </div>
  );
}
