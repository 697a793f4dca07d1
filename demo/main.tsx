/** The playground's page: starts the agent worker, then shows the chats. */

import type { Signal } from '@preact/signals';
import { render } from 'preact';
import { followAddress } from './app/state/address.ts';
import { connectAgent } from './app/state/agent-worker.ts';
import { createEndpointConnector } from './endpoint/state/connect-endpoint.ts';
import { createNotes, type Notes } from './storage/notes.ts';
import { createPlayground } from './app/state/playground.ts';
import { connectRuntime } from './app/state/runtime-port.ts';
import { readRoute } from './app/state/route.ts';
import { createTheme, type Theme } from './app/state/theme.ts';
import { App } from './app/ui/app.tsx';
import { StartFailure } from './app/ui/start-failure.tsx';
import { whenIdle } from './app/ui/when-idle.ts';
// oxlint-disable-next-line import/default -- Vite makes this module: it exports the address
import workerUrl from './worker.ts?worker&url';
import './style.css';

const root = document.getElementById('app') ?? document.body;
const notes = createNotes(() => localStorage);
const theme = createTheme({ notes, root: document.documentElement });

// The window of a sign-in comes back to this address.
if (new URLSearchParams(location.search).has('sign-in')) void endSignIn();
else {
  start({ notes, theme }).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : 'Unknown reason';
    render(<StartFailure reason={reason} onReload={() => location.reload()} />, root);
  });
}

async function endSignIn(): Promise<void> {
  const { endWindow, passOn } = await import('./settings/state/sign-in-return.ts');
  passOn(location.href);
  endWindow(root);
}

async function start(shared: { notes: Notes; theme: Signal<Theme> }): Promise<void> {
  const [{ connection, close }, { createBrowserChatStore }] = await Promise.all([
    connectAgent(workerUrl, { connectRuntime, tab: () => sessionStorage }),
    import('./chat/store/browser-chat-store.ts'),
  ]);
  const connectEndpoint = createEndpointConnector({ connectRuntime });
  const chatStore = createBrowserChatStore();
  const quiet = async (): Promise<void> => {
    close();
    await chatStore.close();
  };
  const crash = (address: string): void => {
    close();
    history.replaceState(undefined, '', address);
    location.reload();
  };
  const playground = createPlayground({
    ...connection,
    ...shared,
    connectEndpoint,
    chatStore,
    quiet,
    crash,
  });
  await playground.settings.restore();
  const { hash } = location;
  await playground.chats.restore(readRoute(hash).chatId);
  followAddress(playground, hash);
  root.replaceChildren();
  render(<App playground={playground} />, root);
  whenIdle(() =>
    void import('./app/state/settle-in.ts').then((later) => later.settleIn(playground)).catch(() => undefined)
  );
}
