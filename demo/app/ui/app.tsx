import type { JSX } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import { hostOf } from '../../endpoint/state/endpoint.ts';
import type { Playground } from '../state/playground.ts';
import { Notice } from '../../kit/notice.tsx';
import { Composer } from '../../composer/ui/composer.tsx';
import { lazy } from '../../kit/lazy.tsx';
import { Markdown } from '../../markdown/ui/lazy-markdown.tsx';
import { isCovered } from './over-chat.ts';
import { ScreenFailure } from './screen-failure.tsx';
import { handleShortcut } from './shortcuts.ts';
import { isCovering } from './panel-cover.ts';
import { SideBar } from './side-bar.tsx';
import { DeletedNotice, RemovedNotice, StorageNotice } from './storage-notice.tsx';
import { Thread } from '../../chat/ui/thread.tsx';
import { TopBar } from './top-bar.tsx';
import { whenIdle } from './when-idle.ts';

/** A screen that cannot be loaded shows its failure over the chat. */
const orSay = { Failure: ScreenFailure };
const SettingsDialog = lazy(async () => (await import('../../settings/ui/settings-dialog.tsx')).SettingsDialog, orSay);
const TreePanel = lazy(async () => (await import('../../tree/ui/tree-panel.tsx')).TreePanel, orSay);
const KnowledgePanel = lazy(async () => (await import('../../knowledge/ui/knowledge-panel.tsx')).KnowledgePanel, orSay);
const RegistryScreen = lazy(async () => (await import('../../registry/ui/registry-screen.tsx')).RegistryScreen, orSay);
const InspectorScreen = lazy(
  async () => (await import('../../inspector/ui/inspector-screen.tsx')).InspectorScreen,
  orSay,
);
const PrivacyScreen = lazy(async () => (await import('../../privacy/ui/privacy-screen.tsx')).PrivacyScreen, orSay);
const ConsoleScreen = lazy(async () => (await import('../../console/ui/console-screen.tsx')).ConsoleScreen, orSay);
const TourStrip = lazy(async () => (await import('../../tour/ui/tour-strip.tsx')).TourStrip);
const BuilderScreen = lazy(async () => (await import('../../builder/ui/builder-screen.tsx')).BuilderScreen, orSay);
const LinkScreen = lazy(async () => (await import('../../builder/ui/link-screen.tsx')).LinkScreen, orSay);
const SharedScreen = lazy(async () => (await import('../../share/ui/shared-screen.tsx')).SharedScreen, orSay);
const ChatSettingsDialog = lazy(
  async () => (await import('../../chat/settings/chat-settings-dialog.tsx')).ChatSettingsDialog,
  orSay,
);
const KeysDialog = lazy(async () => (await import('./keys-dialog.tsx')).KeysDialog, orSay);
const ShareDialog = lazy(async () => (await import('../../share/ui/share-dialog.tsx')).ShareDialog, orSay);
const Palette = lazy(async () => (await import('../../palette/ui/palette.tsx')).Palette, orSay);

/** The playground's page. */
export function App({ playground }: { playground: Playground }): JSX.Element {
  const overlay = playground.overlay.value;
  const chat = playground.chats.current.value;
  const hasRegistry = playground.registry.isShown.value;
  // Runs are inspected over the console, which is there again afterwards.
  const hasConsole = playground.console.isShown.value && playground.inspector.shown.value === undefined;
  const hasInspector = playground.inspector.shown.value !== undefined;
  const workshop = playground.workshop.value;
  const isOver = isCovered(playground);
  const hasKnowledge = playground.knowledge.isShown.value && !isOver;
  const hasTree = playground.tree.isShown.value && !isOver && !hasKnowledge;
  const hasPanel = hasTree || hasKnowledge;
  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (handleShortcut(event, playground)) event.preventDefault();
    };
    document.addEventListener('keydown', onKeyDown);
    whenIdle(() => void Promise.all([Markdown.preload(), Palette.preload()]));
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
  return (
    <>
      <div class='frame' data-beside={hasPanel} data-covered={isOver}>
        <SideBar playground={playground} />
        <main class='main' inert={overlay === 'drawer' || isOver || (hasPanel && isCovering())}>
          <TopBar chat={chat} playground={playground} />
          <Thread key={chat.id} chat={chat} playground={playground} />
          <div class='dock'>
            <VersionNotice playground={playground} />
            <StorageNotice playground={playground} />
            <DeletedNotice playground={playground} />
            <RemovedNotice playground={playground} />
            <KeyNotice playground={playground} />
            <Composer key={chat.id} chat={chat} playground={playground} />
          </div>
        </main>
        {hasTree && <TreePanel playground={playground} />}
        {hasKnowledge && <KnowledgePanel playground={playground} />}
        {hasRegistry && <RegistryScreen playground={playground} />}
        {hasInspector && <InspectorScreen playground={playground} />}
        {playground.privacy.isShown.value && <PrivacyScreen playground={playground} />}
        {workshop?.type === 'link' && <LinkScreen playground={playground} hash={workshop.hash} />}
        {workshop?.type === 'shared' && <SharedScreen playground={playground} hash={workshop.hash} />}
        {workshop?.type === 'builder' && <BuilderScreen playground={playground} />}
        {hasConsole && <ConsoleScreen playground={playground} />}
      </div>
      {playground.tour.isShown.value && <TourStrip playground={playground} />}
      {overlay === 'settings' && <SettingsDialog playground={playground} />}
      {overlay === 'chat-settings' && <ChatSettingsDialog key={chat.id} playground={playground} />}
      {overlay === 'keys' && <KeysDialog playground={playground} />}
      {overlay === 'share' && <ShareDialog playground={playground} />}
      {overlay === 'switcher' && <Palette playground={playground} />}
      <div class='visually-hidden' aria-live='polite' data-testid='announcement'>{playground.announcement.value}</div>
    </>
  );
}

function VersionNotice({ playground: { offline } }: { playground: Playground }): JSX.Element | null {
  const newer = offline.newVersion.value;
  if (newer === undefined) return null;
  return (
    <Notice
      testId='version-notice'
      action={<button type='button' class='button' data-testid='version-reload' onClick={newer.take}>Reload</button>}
    >
      A new version of this page is available. Reload to use it. Your chats stay.
    </Notice>
  );
}

/** The key of the last visit was not stored. */
function KeyNotice({ playground: { settings, overlay } }: { playground: Playground }): JSX.Element | null {
  const choice = settings.choice.value;
  if (choice.type !== 'endpoint' || !choice.locked) return null;
  return (
    <Notice
      testId='key-notice'
      action={
        <>
          <button type='button' class='button' onClick={() => (overlay.value = 'settings')}>
            {choice.inVault ? 'Open the vault' : 'Enter the key'}
          </button>
          <button type='button' class='button' onClick={() => void settings.useRehearsal()}>Use the demo</button>
        </>
      }
    >
      {choice.inVault
        ? `Open the vault to continue with ${choice.model}.`
        : `The key for ${hostOf(choice.baseUrl)} was not stored. Enter it again to continue with ${choice.model}.`}
    </Notice>
  );
}
