/** The server that this page's chats run at: the connection, the switch to it, and what is shown without it. */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { type ErrorData, toData } from '../../../src/base/errors.ts';
import type { ConsoleControl } from '../../control/server-control.ts';
import { hostOf } from '../../endpoint/state/endpoint.ts';
import type { Playground } from '../../app/state/playground.ts';
import type { Where } from '../../app/state/route.ts';
import { whereOf } from '../../app/state/screens.ts';
import { endpointOf } from '../../settings/state/settings.ts';
import { GuideLink } from '../../kit/guide-link.tsx';
import { oncePer } from '../../kit/hooks/once-per.ts';
import { Asking, Refusal } from './refusal.tsx';
import { Button } from '../../kit/button.tsx';

/** The way to a server, or why there is none. */
export interface Server {
  /** `undefined`: none is chosen. */
  readonly url: string | undefined;
  readonly control: ConsoleControl | undefined;
  readonly error: ErrorData | undefined;
  readonly retry: () => void;
}

/** The connections of the page, by address: a server is asked once. */
const connectionsOf = oncePer((_: Playground) => new Map<string, ConsoleControl>());

/** Connects to the chosen server while `isWanted`. */
export function useServer(playground: Playground, isWanted: boolean): Server {
  const chosen = endpointOf(playground.settings.choice.value);
  const url = isWanted ? chosen : undefined;
  const known = connectionsOf(playground);
  const control = useSignal<ConsoleControl | undefined>(undefined);
  const error = useSignal<ErrorData | undefined>(undefined);
  const connect = async (to: string): Promise<void> => {
    error.value = undefined;
    try {
      const opened = await playground.server.connect(to);
      known.set(to, opened);
      control.value = opened;
    } catch (problem) {
      error.value = toData(problem);
    }
  };
  useEffect(() => {
    control.value = url === undefined ? undefined : known.get(url);
    if (url !== undefined && !control.value) void connect(url);
  }, [url]);
  return {
    url: chosen,
    // The component is drawn once before the effect takes another server.
    control: url !== undefined && known.get(url) === control.value ? control.value : undefined,
    error: error.value,
    retry: () => void (url !== undefined && connect(url)),
  };
}

/** What is shown until the server answers. */
export function NoServer({ server, playground }: { server: Server; playground: Playground }): JSX.Element {
  if (server.url === undefined) return <Unconnected playground={playground} />;
  if (!server.error) return <Asking what='the server' />;
  return (
    <>
      <Refusal error={server.error} scope='admin' onRetry={server.retry} />
      <p class='console-empty'>
        <GuideLink page='deploy' anchor='requirements'>Requirements of a server</GuideLink>
      </p>
    </>
  );
}

function Unconnected({ playground: { overlay } }: { playground: Playground }): JSX.Element {
  return (
    <div class='console-empty' data-testid='server-none'>
      <p>No Pinnace server is connected. Its agents, runs, plans, metrics and audit log are shown here.</p>
      <p>This page signs every request with a key that never leaves its worker.</p>
      <p>
        <GuideLink page='endpoint'>Set up a server</GuideLink>
      </p>
      <Button kind='primary' onClick={() => (overlay.value = 'server')}>
        Connect to a server
      </Button>
    </div>
  );
}

interface WhereSwitchProps {
  readonly where: Where;
  readonly playground: Playground;
  readonly onChoose: (where: Where) => void;
}

/** This page or the server. Nothing while no server is connected. */
export function WhereSwitch({ where, playground, onChoose }: WhereSwitchProps): JSX.Element | null {
  const url = endpointOf(playground.settings.choice.value);
  if (url === undefined && where === 'page') return null;
  const names: readonly (readonly [Where, string])[] = [
    ['page', 'This page'],
    ['server', url === undefined ? 'Server' : hostOf(url)],
  ];
  return (
    <div class='where-switch' role='group' aria-label='Show what is in'>
      {names.map(([each, name]) => (
        <button
          key={each}
          type='button'
          data-testid={`where-${each}`}
          aria-pressed={each === where}
          title={each === whereOf(playground) ? 'Your chats run here' : undefined}
          onClick={() => onChoose(each)}
        >
          {name}
        </button>
      ))}
    </div>
  );
}
