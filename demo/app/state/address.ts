/** The page's address, its history and its title: what is open. */

import { batch, effect, untracked } from '@preact/signals';
import { setPlace } from './inside.ts';
import type { Playground } from './playground.ts';
import type { Overlay } from './screens.ts';
import { isClosing, isTabOnly, type OverRoute, readRoute, type Route, type Screen, writeRoute } from './route.ts';

/** What the page stores with an entry of the history. */
interface Entry {
  /** The address of the entry before it, where that is one of the page's. */
  readonly from?: string | undefined;
}

/** Opens what the address holds, now and when the person goes back or forward, and keeps address and title at what is open. */
export function followAddress(playground: Playground, hash: string): void {
  const first = readRoute(hash);
  open(first, playground);
  playground.tour.isShown.value ||= first.tour === true;
  let now = routeOf(playground);
  let chatKey = playground.chats.current.peek().id;
  let isGoingBack = false;
  let isQueued = false;
  replace(now);

  function settle(): void {
    isQueued = false;
    if (isGoingBack) return; // when the browser is there, this is called again
    const next = untracked(() => routeOf(playground));
    const address = writeRoute(next);
    const key = playground.chats.current.peek().id;
    const isSaved = key === chatKey && now.chatId === undefined && next.chatId !== undefined;
    const [before, was] = [now, writeRoute(now)];
    now = next;
    chatKey = key;
    if (address === was) return;
    playground.nowhere.value = undefined; // the person has gone on
    const isLeaving = isClosing(before, next) || isPassing(before) || isDecided(before, next);
    if (isLeaving && entry().from === address) {
      isGoingBack = true;
      history.back();
    } else if (isLeaving || isSaved || isTabOnly(before, next)) replace(next);
    else history.pushState({ from: was } satisfies Entry, '', addressOf(address));
  }

  addEventListener('popstate', () => {
    if (isGoingBack) {
      isGoingBack = false;
      now = readRoute(location.hash);
      return settle(); // what was opened meanwhile stays open
    }
    open(readRoute(location.hash), playground);
    now = untracked(() => routeOf(playground));
    chatKey = playground.chats.current.peek().id;
    if (writeRoute(now) !== location.hash) replace(now);
  });
  effect(() => {
    routeOf(playground);
    // One action may change several signals: close a page, and open a chat.
    if (!isQueued) queueMicrotask(settle);
    isQueued = true;
  });
  showTitle(playground);
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') playground.chats.saveRunning();
  });
}

function entry(): Entry {
  return history.state as Entry | null ?? {}; // only this file writes it
}

function replace(route: Route): void {
  history.replaceState(entry(), '', addressOf(writeRoute(route)));
}

/** A new chat is the page itself. */
function addressOf(hash: string): string {
  return hash === '#/' ? location.pathname + location.search : hash;
}

/** What is open for a moment only is no place to come back to. */
function isPassing({ over }: Route): boolean {
  return over === 'palette' || over === 'chats';
}

/** What came by a link is kept or not; going back leads to neither the question nor the link. */
function isDecided({ screen }: Route, next: Route): boolean {
  return screen !== undefined && 'hash' in screen && next.screen === undefined;
}

const overlays: Readonly<Record<OverRoute, Overlay>> = {
  model: 'settings',
  server: 'server',
  palette: 'switcher',
  chats: 'drawer',
  share: 'share',
  'chat-settings': 'chat-settings',
};

/** Reads all signals that the address is made of. */
function routeOf({ chats, overlay, tree, knowledge, screen, agentsAt }: Playground): Route {
  const { id, messages } = chats.current.value;
  const isStored = messages.value.length > 0 || chats.list.value.some((chat) => chat.id === id);
  const over = (Object.keys(overlays) as OverRoute[]).find((each) => overlays[each] === overlay.value); // its own keys
  const shown = screen.value;
  return {
    ...(isStored && { chatId: id }),
    screen: shown,
    ...(shown?.name === 'agents' && { at: agentsAt[shown.where].value }),
    ...(shown?.name === 'files' && { at: knowledge.at.value }),
    tree: tree.isShown.value,
    ...(knowledge.isShown.value && { files: knowledge.at.value }),
    over,
  };
}

/** Opens what a route holds, and closes everything else. */
function open(route: Route, playground: Playground): void {
  const { overlay, tree, knowledge, screen, agentsAt, nowhere } = playground;
  const { screen: wanted, over, at = [], unknown } = route;
  batch(() => {
    openChat(route, playground);
    nowhere.value = unknown ?? (isMissing(route, playground) ? 'c' : undefined);
    if (wanted?.name === 'agents') setPlace(agentsAt[wanted.where], at);
    if (wanted?.name === 'files') setPlace(knowledge.at, at);
    screen.value = sameScreen(wanted, screen.peek());
    tree.isShown.value = route.tree === true;
    knowledge.isShown.value = route.files !== undefined && !route.tree;
    if (route.files) setPlace(knowledge.at, route.files);
    overlay.value = over ? overlays[over] : 'none';
  });
}

function openChat({ chatId }: Route, { chats }: Playground): void {
  const { id, messages } = chats.current.peek();
  if (chatId === id) return;
  if (chats.list.peek().some((chat) => chat.id === chatId)) void chats.open(chatId ?? '');
  else if (messages.peek().length > 0) chats.start();
}

/** Whether the address is that of a chat that is not there. */
function isMissing({ chatId }: Route, { chats }: Playground): boolean {
  return chatId !== undefined && chats.current.peek().id !== chatId &&
    !chats.list.peek().some((chat) => chat.id === chatId);
}

/** The same run stays the same value, so that it is not read again, and still leads back to where it was opened. */
function sameScreen(wanted: Screen | undefined, shown: Screen | undefined): Screen | undefined {
  if (!wanted || !shown || writeRoute({ screen: wanted }) !== writeRoute({ screen: shown })) return wanted;
  return shown;
}

function showTitle({ chats, waiting }: Playground): void {
  effect(() => {
    const { title } = chats.current.value;
    const count = waiting.items.value.length;
    const name = title.value === '' ? 'Pinnace' : `${title.value} · Pinnace`;
    document.title = count === 0 ? name : `(${count}) ${name}`;
  });
}
