import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { guideHref } from '../../kit/guide-href.ts';
import { type Playground, showBeside } from '../state/playground.ts';
import { endpointOf } from '../../settings/state/settings.ts';
import { nextTheme, type Theme } from '../state/theme.ts';
import { isMac } from './actions.ts';
import { ChatList } from '../../chat/ui/chat-list.tsx';
import { Icon, type IconName } from '../../kit/icon.tsx';
import { Mark } from '../../kit/mark.tsx';
import { isCovered, uncover } from './over-chat.ts';

/** From here on the side bar has a place of its own; below, it is a drawer. The style sheet says the same. */
const wide = '(min-width: 56.25rem)';

/** The brand, the chats, and the page's own settings. */
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
        <button type='button' class='button new-chat' data-testid='new-chat' onClick={start}>
          <Icon name='plus' />
          New chat
        </button>
        <ChatList playground={playground} />
        <Pages playground={playground} />
        <Foot playground={playground} />
      </aside>
    </>
  );
}

function Foot({ playground }: { playground: Playground }): JSX.Element {
  const { overlay } = playground;
  return (
    <div class='side-foot'>
      <button
        type='button'
        class='quiet-button'
        data-testid='open-switcher'
        onClick={() => (overlay.value = 'switcher')}
      >
        <Icon name='search' />
        <span>Go to…</span>
        <kbd>{shortcut()}</kbd>
      </button>
      <ThemeButton playground={playground} />
    </div>
  );
}

/** A button of the side bar that shows or hides a page. */
interface PageButton {
  readonly testId: string;
  readonly icon: IconName;
  readonly title: string;
  readonly isShown: boolean;
  readonly onPress: () => void;
}

function Pages({ playground }: { playground: Playground }): JSX.Element {
  return (
    <nav class='side-pages' aria-label='Pages'>
      {pageButtons(playground).map(({ testId, icon, title, isShown, onPress }) => (
        <button
          key={testId}
          type='button'
          class='quiet-button'
          data-testid={testId}
          aria-pressed={isShown}
          onClick={() => {
            playground.overlay.value = 'none';
            onPress();
          }}
        >
          <Icon name={icon} />
          {title}
        </button>
      ))}
      <a class='quiet-button' data-testid='open-guides' href={guideHref('index')} target='_blank' rel='noopener'>
        <Icon name='guide' />
        Guides
      </a>
    </nav>
  );
}

function pageButtons(playground: Playground): readonly PageButton[] {
  const { registry, knowledge, inspector, console: endpointConsole, privacy, settings } = playground;
  return [
    {
      testId: 'open-registry',
      icon: 'records',
      title: 'Registry',
      isShown: registry.isShown.value,
      onPress: () => (registry.isShown.value = !registry.isShown.value),
    },
    {
      testId: 'side-knowledge',
      icon: 'book',
      title: 'Knowledge',
      isShown: knowledge.isShown.value && !isCovered(playground),
      onPress: () => showBeside(playground, 'knowledge', !knowledge.isShown.value || isCovered(playground)),
    },
    {
      testId: 'open-inspector',
      icon: 'waterfall',
      title: 'Runs',
      isShown: inspector.shown.value !== undefined,
      onPress: () => (inspector.shown.value = inspector.shown.value ? undefined : {}),
    },
    ...(endpointOf(settings.choice.value) === undefined ? [] : [{
      testId: 'open-console',
      icon: 'pulse' as const,
      title: 'Console',
      isShown: endpointConsole.isShown.value && inspector.shown.value === undefined,
      onPress: () => {
        const { value: isShown } = endpointConsole.isShown;
        uncover(playground);
        endpointConsole.isShown.value = !isShown;
      },
    }]),
    {
      testId: 'open-privacy',
      icon: 'lock',
      title: 'Privacy and data',
      isShown: privacy.isShown.value,
      onPress: () => (privacy.isShown.value = !privacy.isShown.value),
    },
  ];
}

const themes: Readonly<Record<Theme, { readonly icon: IconName; readonly word: string }>> = {
  system: { icon: 'system', word: 'as the system' },
  light: { icon: 'sun', word: 'light' },
  dark: { icon: 'moon', word: 'dark' },
};

function ThemeButton({ playground: { theme } }: { playground: Playground }): JSX.Element {
  const { icon, word } = themes[theme.value];
  return (
    <button
      type='button'
      class='icon-button'
      data-testid='theme-toggle'
      data-theme-choice={theme.value}
      title={`Colors: ${word}`}
      aria-label={`Colors: ${word}. Change`}
      onClick={() => (theme.value = nextTheme(theme.value))}
    >
      <Icon name={icon} />
    </button>
  );
}

function closeWhenWide(close: () => void): () => void {
  const query = matchMedia(wide);
  query.addEventListener('change', close);
  return () => query.removeEventListener('change', close);
}

function shortcut(): string {
  return isMac() ? '⌘ K' : 'Ctrl K';
}
