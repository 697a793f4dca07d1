/** A page of its own over the chat, which goes on behind it: its head, Esc, and the keyboard's way in and out. */

import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Playground } from '../app/state/playground.ts';
import { Icon } from './icon.tsx';
import { isCovered } from '../app/ui/over-chat.ts';
import { Problem } from './problem.tsx';

/** Every page over the chat, for style sheets and tests. */
export type OverScreenName =
  | 'registry'
  | 'inspector'
  | 'privacy'
  | 'builder'
  | 'link'
  | 'shared'
  | 'console';

interface OverScreenProps {
  readonly playground: Playground;
  readonly name: OverScreenName;
  readonly label: string;
  readonly title: string;
  /** Where `onBack` leads. */
  readonly back: string;
  readonly onBack: () => void;
  /** What Esc does, where that is not to go back: it leads to where the person came from. */
  readonly onEscape?: () => void;
  /** Straight to the chat; absent where `onBack` leads there. */
  readonly onClose: (() => void) | undefined;
  readonly problem: string | undefined;
  /** The view that is shown; another view starts at its top. */
  readonly view?: string;
  readonly children: ComponentChildren;
}

/** The page. */
export function OverScreen(props: OverScreenProps): JSX.Element {
  const { playground, name, label, title, back, onBack, onEscape = onBack, onClose, problem, view, children } = props;
  const first = useRef<HTMLButtonElement>(null);
  const body = useRef<HTMLDivElement>(null);
  useFocus(first, playground);
  useEscape(onEscape, playground);
  useLayoutEffect(() => void (body.current && (body.current.scrollTop = 0)), [view]);
  return (
    <main
      class={`over-screen ${name}`}
      aria-label={label}
      data-testid={name}
      inert={playground.overlay.value === 'drawer'}
    >
      <header class='top-bar'>
        <button
          ref={first}
          type='button'
          class='icon-button over-screen-back'
          data-testid={`${name}-back`}
          aria-label={back}
          title={back}
          onClick={onBack}
        >
          <Icon name='arrow' />
        </button>
        <h1 class='over-screen-title'>{title}</h1>
        {onClose && (
          <button
            type='button'
            class='icon-button'
            data-testid={`${name}-close`}
            aria-label='Back to the chat'
            onClick={onClose}
          >
            <Icon name='cross' />
          </button>
        )}
      </header>
      <div ref={body} class={`${name}-body`}>
        <Problem text={problem} testId={`${name}-problem`} />
        {children}
      </div>
    </main>
  );
}

/** Esc leaves, but where something on top of the page takes it. */
function useEscape(onBack: () => void, { overlay }: Playground): void {
  const latest = useRef(onBack);
  latest.current = onBack;
  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape' || event.defaultPrevented || overlay.peek() !== 'none') return;
      if (document.querySelector('dialog[open]')) return; // it closes itself
      event.preventDefault();
      latest.current();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
}

/** The page has the focus until it is closed; then what opened it has it again, or the composer. */
function useFocus(first: { readonly current: HTMLElement | null }, playground: Playground): void {
  useLayoutEffect(() => {
    const opener = document.activeElement;
    first.current?.focus();
    return () => {
      setTimeout(() => {
        if (isCovered(playground) || document.activeElement !== document.body) return;
        if (opener instanceof HTMLElement && opener !== document.body && isThere(opener)) opener.focus();
        else playground.focusRequests.value++;
      }, 0);
    };
  }, []);
}

/** On a narrow screen what opens the page may be in a drawer that is shut. */
function isThere(element: HTMLElement): boolean {
  return element.isConnected && (element.checkVisibility?.({ visibilityProperty: true }) ?? true);
}
