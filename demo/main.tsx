/** The playground's page: starts the agent worker, then shows the chats. */

import { effect, type Signal } from '@preact/signals';
import { render } from 'preact';
import { connectRuntime as connectPort } from '../adapters/transport/comlink.ts';
import { localPrincipal } from '../src/base/principal.ts';
import { connect } from './app/state/connect.ts';
import { createEndpointConnector } from './endpoint/state/connect-endpoint.ts';
import { createNotes, type Notes } from './app/state/notes.ts';
import { createPlayground, type Playground } from './app/state/playground.ts';
import type { Transport } from './chat/state/run.ts';
import { createTheme, type Theme } from './app/state/theme.ts';
import { ownScript } from './app/worker/trusted.ts';
import { App } from './app/ui/app.tsx';
import { StartFailure } from './app/ui/start-failure.tsx';
import { whenIdle } from './app/ui/when-idle.ts';
// oxlint-disable-next-line import/default -- Vite makes this module: it exports the address
import workerUrl from './worker.ts?worker&url';
import './style.css';

const root = document.getElementById('app') ?? document.body;
const notes = createNotes(() => localStorage);
const theme = createTheme({ notes, root: document.documentElement });

start({ notes, theme }).catch((error: unknown) => {
  const reason = error instanceof Error ? error.message : 'It gave no reason';
  render(<StartFailure reason={reason} onReload={() => location.reload()} />, root);
});

async function start(shared: { notes: Notes; theme: Signal<Theme> }): Promise<void> {
  const worker = new Worker(ownScript(workerUrl), { type: 'module', name: 'agent' });
  const [connection, { createBrowserKeeper }] = await Promise.all([
    connect(worker, { connectRuntime }),
    import('./chat/state/browser-keeper.ts'),
  ]);
  const connectEndpoint = createEndpointConnector({ connectRuntime });
  const keeper = createBrowserKeeper();
  const quiet = async (): Promise<void> => {
    worker.terminate();
    await keeper.close();
  };
  const playground = createPlayground({ ...connection, ...shared, connectEndpoint, keeper, quiet });
  await playground.settings.restore();
  const { hash } = location;
  await playground.chats.restore(hash.slice(1));
  openLink(hash, playground);
  watch(playground);
  addEventListener('hashchange', () => openLink(location.hash, playground));
  root.replaceChildren();
  render(<App playground={playground} />, root);
  whenIdle(() => void settleIn(playground).catch(() => undefined));
}

async function settleIn(playground: Playground): Promise<void> {
  await (await import('./app/state/settle-in.ts')).settleIn(playground);
}

/** What is on the other end of the port. The page is the local principal, or whoever its certificate says. */
function connectRuntime(port: MessagePort): Transport {
  const runtime = connectPort(port);
  return {
    sendMessages: (options) => runtime.sendMessages(options),
    resume: (runId, after, { signal }) => runtime.resume(runId, after, { principal: localPrincipal(), signal }),
    decide: (runId, approvalId, decision) => runtime.decide(runId, approvalId, decision, localPrincipal()),
    reply: (runId, reply) => runtime.reply(runId, reply, localPrincipal()),
  };
}

/** Shows an agent that an address holds; it is taken in when the person says so. */
function openLink(hash: string, { workshop }: Playground): void {
  if (hash.startsWith('#agent=')) workshop.value = { type: 'link', hash };
}

/** Keeps the open chat in the title and in the address, so that a reload comes back to it, and saves when the page is put aside. */
function watch({ chats }: Playground): void {
  effect(() => {
    const { id, messages, title } = chats.current.value;
    document.title = title.value === '' ? 'Pinnace' : `${title.value} · Pinnace`;
    history.replaceState(null, '', messages.value.length > 0 || isKept(chats, id) ? `#${id}` : location.pathname);
  });
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') chats.saveRunning();
  });
}

function isKept({ list }: Playground['chats'], chatId: string): boolean {
  return list.value.some(({ id }) => id === chatId);
}
