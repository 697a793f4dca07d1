/** The page's keys. */

import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { isRunning } from '../../chat/state/chat.ts';
import { Thread } from '../../chat/ui/thread.tsx';
import { Composer } from '../../composer/ui/composer.tsx';
import { findInstead } from '../../find/ui/chat-find.ts';
import { lazy } from '../../kit/lazy.tsx';
import { isBeside, isCovering, isWriting } from '../../kit/panel-cover.ts';
import { Markdown } from '../../markdown/ui/lazy-markdown.tsx';
import { agentOf, type Playground } from '../state/playground.ts';
import { isCovered, showBeside, uncover } from '../state/screens.ts';
import { actionOf } from './actions.ts';
import { SideBar } from './side-bar.tsx';
import { TopBar } from './top-bar.tsx';
import { whenIdle } from './when-idle.ts';
import { Button } from '../../kit/button.tsx';

/** A screen that cannot be loaded shows its failure over the chat. */
const orSay = { Failure: ScreenFailure };
const SettingsDialog = lazy(async () => (await import('../../settings/ui/settings-dialog.tsx')).SettingsDialog, orSay);
const TreePanel = lazy(async () => (await import('../../tree/ui/tree-panel.tsx')).TreePanel, orSay);
const KnowledgePanel = lazy(async () => (await import('../../knowledge/ui/knowledge-panel.tsx')).KnowledgePanel, orSay);
const FilesScreen = lazy(async () => (await import('../../knowledge/ui/knowledge-panel.tsx')).FilesScreen, orSay);
const AgentsScreen = lazy(async () => (await import('../../agents/ui/agents-screen.tsx')).AgentsScreen, orSay);
const RunsScreen = lazy(async () => (await import('../../runs/ui/runs-screen.tsx')).RunsScreen, orSay);
const SettingsScreen = lazy(async () => (await import('../../privacy/ui/settings-screen.tsx')).SettingsScreen, orSay);
const InboxScreen = lazy(async () => (await import('../../inbox/ui/inbox-screen.tsx')).InboxScreen, orSay);
const GuardScreen = lazy(async () => (await import('../../guard/ui/guard-screen.tsx')).GuardScreen, orSay);
const TourStrip = lazy(async () => (await import('../../tour/ui/tour-strip.tsx')).TourStrip);
const LinkScreen = lazy(async () => (await import('../../agents/ui/link-screen.tsx')).LinkScreen, orSay);
const SharedScreen = lazy(async () => (await import('../../share/ui/shared-screen.tsx')).SharedScreen, orSay);
const ChatSettingsDialog = lazy(
  async () => (await import('../../chat/settings/chat-settings-dialog.tsx')).ChatSettingsDialog,
  orSay,
);
const KeysDialog = lazy(async () => (await import('./keys-dialog.tsx')).KeysDialog, orSay);
const ShareDialog = lazy(async () => (await import('../../share/ui/share-dialog.tsx')).ShareDialog, orSay);
const Notices = lazy(async () => (await import('./notices.tsx')).Notices);
const Palette = lazy(async () => (await import('../../palette/ui/palette.tsx')).Palette, orSay);

/** The playground's page. */
export function App({ playground }: { playground: Playground }): JSX.Element {
  const overlay = playground.overlay.value;
  const chat = playground.chats.current.value;
  const isOver = isCovered(playground);
  const hasKnowledge = playground.knowledge.isShown.value && !isOver;
  const hasTree = playground.tree.isShown.value && !isOver && !hasKnowledge;
  const hasPanel = hasTree || hasKnowledge;
  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (handleShortcut(event, playground)) event.preventDefault();
    };
    document.addEventListener('keydown', onKeyDown);
    const firstActs = ['pointerdown', 'keydown'] as const;
    const onFirstAct = (): void => void Markdown.preload(); // while the question is written
    for (const act of firstActs) document.addEventListener(act, onFirstAct, { once: true });
    whenIdle(() => {
      void Palette.preload();
      playground.waiting.follow();
    });
    return () => {
      document.removeEventListener('keydown', onKeyDown);
      for (const act of firstActs) document.removeEventListener(act, onFirstAct);
    };
  }, []);
  usePanelOf(chat.agentId.value, playground);
  return (
    <>
      <div class='frame' data-beside={hasPanel} data-covered={isOver}>
        <SideBar playground={playground} />
        <main class='main' inert={overlay === 'drawer' || isOver || (hasPanel && isCovering())}>
          <TopBar chat={chat} playground={playground} />
          <Thread key={chat.id} chat={chat} playground={playground} />
          <div class='dock'>
            {hasNotice(playground) && <Notices playground={playground} />}
            <Composer key={chat.id} chat={chat} playground={playground} />
          </div>
        </main>
        {hasTree && <TreePanel playground={playground} />}
        {hasKnowledge && <KnowledgePanel playground={playground} />}
        <Over playground={playground} />
      </div>
      {playground.tour.isShown.value && <TourStrip playground={playground} />}
      {(overlay === 'settings' || overlay === 'server') && <SettingsDialog playground={playground} />}
      {overlay === 'chat-settings' && <ChatSettingsDialog key={chat.id} playground={playground} />}
      {overlay === 'keys' && <KeysDialog playground={playground} />}
      {overlay === 'share' && <ShareDialog playground={playground} />}
      {overlay === 'switcher' && <Palette playground={playground} />}
      <div class='visually-hidden' aria-live='polite' data-testid='announcement'>{playground.announcement.value}</div>
    </>
  );
}

/** Whether there is something that a person must know. */
function hasNotice({ offline, chatStore, nowhere, chats, settings: { choice } }: Playground): boolean {
  const { notStored, unreadable } = chatStore;
  const isLocked = choice.value.type === 'endpoint' && choice.value.locked;
  const said = [offline.newVersion, notStored, nowhere, chats.removed, chats.deletedElsewhere];
  return isLocked || unreadable.value > 0 || said.some(({ value }) => value !== undefined);
}

/** The page over the chat. */
function Over({ playground }: { playground: Playground }): JSX.Element | null {
  const screen = playground.screen.value;
  switch (screen?.name) {
    case undefined:
      return null;
    case 'agents':
      return <AgentsScreen playground={playground} where={screen.where} />;
    case 'files':
      return <FilesScreen playground={playground} />;
    case 'runs':
    case 'run':
      return <RunsScreen playground={playground} at={screen} />;
    case 'settings':
      return <SettingsScreen playground={playground} />;
    case 'waiting':
      return <InboxScreen playground={playground} />;
    case 'guard':
      return <GuardScreen playground={playground} />;
    case 'link':
      return <LinkScreen playground={playground} hash={screen.hash} />;
    case 'shared':
      return <SharedScreen playground={playground} hash={screen.hash} />;
    default:
      return screen satisfies never;
  }
}

/** The panel of an agent appears with the agent, and goes with it, where there is room beside the chat. */
function usePanelOf(agentId: string, { agents, tree, knowledge }: Playground): void {
  const before = useRef(agentId);
  useEffect(() => {
    if (before.current === agentId) return;
    const was = agentOf(agents, before.current).panel;
    const { panel } = agentOf(agents, agentId);
    before.current = agentId;
    if (panel === was) return;
    tree.isShown.value = panel === 'tree' && isBeside();
    if (panel === 'knowledge' && isBeside()) knowledge.isShown.value = true;
    else if (was === 'knowledge' || panel !== undefined) knowledge.isShown.value = false;
  }, [agentId]);
}

/** Does what the key says. Returns whether it meant anything. */
function handleShortcut(event: KeyboardEvent, playground: Playground): boolean {
  const { overlay, chats, focusRequests } = playground;
  if (event.defaultPrevented || event.isComposing) return false;
  if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 'k') {
    overlay.value = overlay.value === 'switcher' ? 'none' : 'switcher';
    return true;
  }
  if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === 'f') {
    return findInstead(playground);
  }
  if (event.key === 'Escape') return escape(playground);
  const action = overlay.value === 'none' && !document.querySelector('dialog[open]') ? actionOf(event) : undefined;
  if (action) {
    action.go(playground);
    return true;
  }
  if (event.key === '?' && overlay.value === 'none' && !isWriting(event.target) && !hasModifier(event)) {
    overlay.value = 'keys';
    return true;
  }
  if (
    event.key !== '/' || overlay.value !== 'none' || isCovered(playground) || isWriting(event.target) ||
    hasModifier(event)
  ) return false;
  focusRequests.value++;
  return chats.current.value.loaded.value === 'ready';
}

/** Closes what lies over the chat, else stops the run. Dialogs close themselves. */
function escape(playground: Playground): boolean {
  const { overlay, chats } = playground;
  if (overlay.value === 'drawer') {
    overlay.value = 'none';
    return true;
  }
  if (isCovered(playground)) return false; // it goes back by itself, and the run behind it goes on
  if (overlay.value !== 'none' || !isRunning(chats.current.value)) return false;
  chats.stop();
  return true;
}

function hasModifier(event: KeyboardEvent): boolean {
  return event.ctrlKey || event.metaKey || event.altKey;
}

interface ScreenFailureProps {
  readonly playground: Playground;
  readonly onRetry: () => void;
}

/** Replaces a screen whose code could not be loaded: reports it, retries, or returns to the chat. */
function ScreenFailure({ playground, onRetry }: ScreenFailureProps): JSX.Element {
  const retry = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => retry.current?.focus(), []);
  const goBack = (): void => {
    uncover(playground);
    showBeside(playground, 'tree', false);
    playground.overlay.value = 'none';
    playground.focusRequests.value++;
  };
  // In the place of a page over the chat it is the page; beside the chat, that is.
  const isPage = isCovered(playground);
  const Place = isPage ? 'main' : 'div';
  const Title = isPage ? 'h1' : 'p';
  return (
    <Place>
      <section
        class='screen-failure'
        role='alertdialog'
        aria-labelledby='screen-failure'
        data-testid='screen-failure'
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          event.preventDefault();
          event.stopPropagation();
          goBack();
        }}
      >
        <Title id='screen-failure'>This part of the page could not be loaded. Check your network connection.</Title>
        <Button testId='screen-back' onClick={goBack}>Back to the chat</Button>
        <button ref={retry} type='button' class='button is-primary' data-testid='screen-retry' onClick={onRetry}>
          Try again
        </button>
      </section>
    </Place>
  );
}
