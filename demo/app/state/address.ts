/** The page's address, its history and its title: what is open. */

import { batch, effect, untracked } from '@preact/signals';
import { setPlace } from './inside.ts';
import type { Overlay, Playground, Workshop } from './playground.ts';
import { isClosing, isTabOnly, type OverRoute, readRoute, type Route, type ScreenRoute, writeRoute } from './route.ts';

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
function isDecided(now: Route, next: Route): boolean {
  return now.link !== undefined && next.link === undefined && !next.screen && !next.console;
}

const overlays: Readonly<Record<OverRoute, Overlay>> = {
  model: 'settings',
  palette: 'switcher',
  chats: 'drawer',
  share: 'share',
  'chat-settings': 'chat-settings',
};

/** Reads all signals that the address is made of. */
function routeOf(playground: Playground): Route {
  const { chats, overlay, tree, knowledge, console: desk, workshop } = playground;
  const { id, messages } = chats.current.value;
  const isStored = messages.value.length > 0 || chats.list.value.some((chat) => chat.id === id);
  const over = (Object.keys(overlays) as OverRoute[]).find((each) => overlays[each] === overlay.value); // its own keys
  return {
    ...(isStored && { chatId: id }),
    screen: screenOf(playground),
    ...(desk.isShown.value && { console: desk.at.value }),
    tree: tree.isShown.value,
    ...(knowledge.isShown.value && { knowledge: knowledge.at.value }),
    over,
    ...(workshop.value && 'hash' in workshop.value && { link: workshop.value.hash }),
  };
}

function screenOf({ registry, privacy, inspector, workshop, builderAt }: Playground): ScreenRoute | undefined {
  if (inspector.shown.value) return { name: 'runs', ...inspector.shown.value };
  if (registry.isShown.value) return { name: 'registry', at: registry.at.value };
  if (privacy.isShown.value) return { name: 'privacy' };
  return workshop.value?.type === 'builder' ? { name: 'builder', at: builderAt.value } : undefined;
}

/** Opens what a route holds, and closes everything else. */
function open(route: Route, playground: Playground): void {
  const { overlay, tree, knowledge, console: desk, registry, privacy, inspector, workshop } = playground;
  const { screen, over } = route;
  batch(() => {
    openChat(route, playground);
    workshop.value = workshopOf(route, playground);
    registry.isShown.value = screen?.name === 'registry';
    if (screen?.name === 'registry') setPlace(registry.at, screen.at);
    privacy.isShown.value = screen?.name === 'privacy';
    desk.isShown.value = route.console !== undefined;
    if (route.console) setPlace(desk.at, route.console);
    inspector.shown.value = screen?.name === 'runs' ? runOf(screen, inspector.shown.peek()) : undefined;
    tree.isShown.value = route.tree === true;
    knowledge.isShown.value = route.knowledge !== undefined && !route.tree;
    if (route.knowledge) setPlace(knowledge.at, route.knowledge);
    overlay.value = over ? overlays[over] : 'none';
  });
}

function openChat({ chatId }: Route, { chats }: Playground): void {
  const { id, messages } = chats.current.peek();
  if (chatId === id) return;
  if (chats.list.peek().some((chat) => chat.id === chatId)) void chats.open(chatId ?? '');
  else if (messages.peek().length > 0) chats.start();
}

function workshopOf({ link, screen }: Route, { workshop, builderAt }: Playground): Workshop | undefined {
  if (link !== undefined) return { type: link.startsWith('#chat=') ? 'shared' : 'link', hash: link };
  if (screen?.name !== 'builder') return undefined;
  setPlace(builderAt, screen.at);
  return workshop.peek()?.type === 'builder' ? workshop.peek() : { type: 'builder' };
}

/** The same run stays the same value, so that it is not read again. */
function runOf(
  { name: _, ...place }: Extract<ScreenRoute, { name: 'runs' }>,
  shown: Playground['inspector']['shown']['value'],
): Playground['inspector']['shown']['value'] {
  const isSame = shown?.traceId === place.traceId && shown?.tab === place.tab && shown?.fork === place.fork &&
    shown?.via === place.via;
  return isSame && shown ? shown : place;
}

function showTitle({ chats }: Playground): void {
  effect(() => {
    const { title } = chats.current.value;
    document.title = title.value === '' ? 'Pinnace' : `${title.value} · Pinnace`;
  });
}
