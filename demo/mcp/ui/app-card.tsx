import { useComputed, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { Playground } from '../../app/state/playground.ts';
import type { ToolPart } from '../../chat/state/message.ts';
import type { AppRef } from '../../chat/state/run-data.ts';
import type { McpApp } from '../../../src/contracts/mcp/content.ts';
import { PinnaceError } from '../../../src/base/errors.ts';
import { AppFrame } from './app-frame.tsx';
import { Button } from '../../kit/button.tsx';

interface AppCardProps {
  readonly part: ToolPart;
  readonly app: AppRef;
  /** The result has just arrived: the app is shown at once. Otherwise a person asks for it. */
  readonly isNew: boolean;
  readonly via: string | undefined;
  readonly playground: Playground;
}

type Phase =
  | { readonly type: 'closed' }
  | { readonly type: 'loading' }
  | { readonly type: 'shown'; readonly app: McpApp }
  | { readonly type: 'failed'; readonly text: string };

/** The app that a tool's server offers for its results. It is read from the server each time, and shown if it has not changed. */
export function AppCard({ app, isNew, ...props }: AppCardProps): JSX.Element {
  const { playground, via } = props;
  const phase = useSignal<Phase>({ type: 'closed' });
  const wasWanted = useSignal(false);
  const hasTaken = useSignal(false);
  async function show(): Promise<void> {
    wasWanted.value = true;
    phase.value = { type: 'loading' };
    try {
      const { serverId: server, uri, sha256 } = app;
      const agentId = playground.chats.current.value.agentId.value;
      phase.value = {
        type: 'shown',
        app: await (await playground.rooms(via)).apps.read(agentId, { server, uri, sha256 }),
      };
    } catch (error) {
      phase.value = { type: 'failed', text: textOf(error) };
    }
  }
  if (isNew && !wasWanted.value) void show();
  const current = useComputed(() => phase.value).value;
  if (current.type === 'shown') {
    return (
      <AppFrame
        {...props}
        app={current.app}
        isTrusted={hasTaken.value}
        onClose={() => (phase.value = { type: 'closed' })}
        onTaken={() => {
          hasTaken.value = true;
          phase.value = {
            type: 'failed',
            text: 'The app took the keyboard while you used the page, so it was closed.',
          };
        }}
      />
    );
  }
  return (
    <div class='mcp-app-closed' data-testid='app-closed' data-phase={current.type}>
      {current.type === 'failed' && <p class='field-error' role='alert'>{current.text}</p>}
      {current.type === 'loading'
        ? <p role='status'>Loading the app from {app.serverId}…</p>
        : (
          <Button testId='app-show' onClick={() => void show()}>
            {current.type === 'failed' ? 'Try again' : `Show the app from ${app.serverId}`}
          </Button>
        )}
    </div>
  );
}

function textOf(error: unknown): string {
  if (!(error instanceof PinnaceError)) return 'The app could not be loaded. Try again.';
  if (error.details?.['reason'] === 'mcp_drifted') {
    return 'The app has changed since it was approved, so it is not shown. Check its server in the registry.';
  }
  if (error.details?.['reason'] === 'mcp_app_not_found') {
    return 'The app is not approved for this agent. Check its server in the registry.';
  }
  return error.message;
}
