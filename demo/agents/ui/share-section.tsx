import type { JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import type { RegistryControl } from '../../control/registry-control.ts';
import { createSharing } from '../state/agent-share.ts';
import { CopyButton } from '../../kit/copy-button.tsx';
import { Problem } from '../../kit/problem.tsx';
import { Button } from '../../kit/button.tsx';

/** An agent as a file for any registry, and as a link to this page. */
export function ShareSection({ control, agentId, revision }: {
  readonly control: RegistryControl;
  readonly agentId: string;
  /** Another one is another file. */
  readonly revision: number;
}): JSX.Element {
  const sharing = useMemo(() => createSharing(control, () => `${location.origin}${location.pathname}`), [control]);
  useEffect(() => void sharing.prepare(agentId), [agentId, revision]);
  const shared = sharing.shared.value;
  return (
    <section data-testid='share' data-ready={shared !== undefined}>
      <h2>Share agent</h2>
      <p class='registry-faint'>
        The export includes the agent’s tools, MCP servers and provider, and the names of its secrets but not their
        values. Import it under “Import and export” in another playground, or with “POST /v1/import” at an endpoint.
      </p>
      <Problem text={sharing.problem.value} testId='share-problem' />
      {shared && (
        <>
          <div class='button-row'>
            <Button icon='save' testId='share-file' onClick={() => save(shared.text, `${agentId}.json`)}>
              Export as JSON
            </Button>
            {shared.link !== undefined && (
              <CopyButton
                testId='share-link'
                text={() => shared.link ?? ''}
                label='Copy link'
              />
            )}
          </div>
          {shared.link === undefined && <p class='registry-faint'>The agent is too large for a link.</p>}
          {shared.given.length > 0 && (
            <p class='registry-faint'>
              Built-in tools that the other playground also needs: {shared.given.join(', ')}.
            </p>
          )}
          {shared.secrets.length > 0 && (
            <p class='registry-faint'>Secrets that the other playground needs: {shared.secrets.join(', ')}.</p>
          )}
        </>
      )}
    </section>
  );
}

function save(text: string, name: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  Object.assign(document.createElement('a'), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
