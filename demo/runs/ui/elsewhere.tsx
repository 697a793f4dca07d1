import type { JSX } from 'preact';
import type { ErrorData } from '../../../src/base/errors.ts';
import { hostOf } from '../../endpoint/state/endpoint.ts';
import { CopyButton } from '../../kit/copy-button.tsx';

interface ElsewhereProps {
  readonly url: string;
  readonly traceId: string;
  /** Why its events cannot be had. */
  readonly refusal: ErrorData;
}

/** Instead of a run at an endpoint whose events this page cannot have: why, and how its operators find it. */
export function Elsewhere({ url, traceId, refusal }: ElsewhereProps): JSX.Element {
  return (
    <div class='inspector-empty' data-testid='run-elsewhere' role='status'>
      <p>
        This run was at <strong>{hostOf(url)}</strong>. {reasonOf(refusal)} Its operators find it by the trace:
      </p>
      <p>
        <code>{traceId}</code> <CopyButton text={() => traceId} label='Copy' />
      </p>
    </div>
  );
}

function reasonOf({ code, message }: ErrorData): string {
  switch (code) {
    case 'forbidden':
      return 'You cannot see this run: it requires the permission “admin”, which this page does not have.';
    case 'not_found':
      return 'The endpoint no longer stores its events.';
    default:
      return `${message}.`;
  }
}
