import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { guideHref } from '../../kit/guide-href.ts';
import type { Playground } from '../state/playground.ts';
import { showAgents, showRuns, uncover } from '../state/screens.ts';
import { isMac } from '../../kit/panel-cover.ts';
import { ChatList } from '../../chat/ui/chat-list.tsx';
import { Icon, type IconName } from '../../kit/icon.tsx';
import { Mark } from '../../kit/mark.tsx';
import { Button } from '../../kit/button.tsx';

/** From here on the side bar has a place of its own; below, it is a drawer. The style sheet says the same. */
const wide = '(min-width: 56.25rem)';

/** The brand, the chats, and the pages. */
export function SideBar({ playground }: { playground: Playground }): JSX.Element {
  const { overlay, chats } = playground;
  const isOpen = overlay.value === 'drawer';
  const close = useRef<HTMLButtonElement>(null);
  // Before the page behind turns inert and drops its focus.
  useLayoutEffect(() => {
    if (!isOpen) return undefined;
    const before = document.activeElement;
    close.current?.focus();
    return () => before instanceof HTMLElement && before.focus();
  }, [isOpen]);
  useEffect(() => closeWhenWide(() => overlay.value === 'drawer' && (overlay.value = 'none')), []);
  const start = (): void => {
    chats.start();
    overlay.value = 'none';
    uncover(playground);
    playground.focusRequests.value++;
  };
  return (
    <>
      {isOpen && <div class='drawer-shade only-narrow' onClick={() => (overlay.value = 'none')} />}
      <aside class='side-bar' data-testid='side-bar' data-open={isOpen} aria-label='Chats'>
        <div class='brand'>
          <Mark />
          <span>Pinnace</span>
          <button
            ref={close}
            type='button'
            class='icon-button only-narrow'
            aria-label='Close'
            onClick={() => (overlay.value = 'none')}
          >
            <Icon name='cross' />
          </button>
        </div>
        <Button icon='plus' class='new-chat' testId='new-chat' onClick={start}>
          New chat
        </Button>
        <Button
          kind='quiet'
          icon='search'
          class='side-search'
          testId='open-switcher'
          onClick={() => (overlay.value = 'switcher')}
        >
          <span>Search</span>
          <kbd>{shortcut()}</kbd>
        </Button>
        <ChatList playground={playground} />
        <Pages playground={playground} />
      </aside>
    </>
  );
}

interface PageLink {
  readonly testId: string;
  readonly icon: IconName;
  readonly title: string;
  readonly isCurrent: boolean;
  /** How much of it wants the person. */
  readonly count?: number;
  readonly go: () => void;
}

/** Each leads to its page, whatever is open. */
function Pages({ playground }: { playground: Playground }): JSX.Element {
  return (
    <nav class='side-pages' aria-label='Pages'>
      {pagesOf(playground).map(({ testId, icon, title, isCurrent, count = 0, go }) => (
        <Button
          kind='quiet'
          icon={icon}
          testId={testId}
          key={testId}
          aria-current={isCurrent ? 'page' : undefined}
          onClick={() => {
            playground.overlay.value = 'none';
            go();
          }}
        >
          {title}
          {count > 0 && <span class='side-badge' data-testid={`${testId}-count`}>{count}</span>}
        </Button>
      ))}
      <a class='quiet-button' data-testid='open-guides' href={guideHref('index')} target='_blank' rel='noopener'>
        <Icon name='guide' />
        Guides
      </a>
    </nav>
  );
}

function pagesOf(playground: Playground): readonly PageLink[] {
  const { screen } = playground;
  const shown = screen.value?.name;
  return [
    {
      testId: 'open-agents',
      icon: 'records',
      title: 'Agents',
      isCurrent: shown === 'agents',
      go: () => showAgents(playground),
    },
    {
      testId: 'open-files',
      icon: 'book',
      title: 'Files',
      isCurrent: shown === 'files',
      go: () => void (screen.value = { name: 'files' }),
    },
    {
      testId: 'open-waiting',
      icon: 'wait',
      title: 'Waiting',
      isCurrent: shown === 'waiting',
      count: playground.waiting.items.value.length,
      go: () => void (screen.value = { name: 'waiting' }),
    },
    {
      testId: 'open-runs',
      icon: 'waterfall',
      title: 'Runs',
      isCurrent: shown === 'runs' || shown === 'run',
      go: () => showRuns(playground),
    },
    {
      testId: 'open-settings',
      icon: 'sliders',
      title: 'Settings',
      isCurrent: shown === 'settings',
      go: () => void (screen.value = { name: 'settings' }),
    },
  ];
}

function closeWhenWide(close: () => void): () => void {
  const query = matchMedia(wide);
  query.addEventListener('change', close);
  return () => query.removeEventListener('change', close);
}

function shortcut(): string {
  return isMac() ? '⌘ K' : 'Ctrl K';
}
