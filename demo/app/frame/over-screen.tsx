/** A page of its own over the chat, which goes on behind it: its head, Esc, and the keyboard's way in and out. */

import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Playground } from '../state/playground.ts';
import { Icon } from '../../kit/icon.tsx';
import { isCovered, uncover } from '../state/screens.ts';
import { Problem } from '../../kit/problem.tsx';
import { IconButton } from '../../kit/button.tsx';

/** Every page over the chat, for style sheets and tests. */
export type OverScreenName = 'agents' | 'files' | 'runs' | 'waiting' | 'settings-page' | 'guard' | 'link' | 'shared';

interface OverScreenProps {
  readonly playground: Playground;
  readonly name: OverScreenName;
  readonly label: string;
  /** The label, when absent. */
  readonly title?: string;
  /** Where `onBack` leads, and so do Esc and the arrow: one step up. To the chat, when absent. */
  readonly back?: string;
  readonly onBack?: () => void;
  readonly problem: string | undefined;
  /** The view that is shown; another view starts at its top. */
  readonly view?: string;
  /** Beside the title. */
  readonly beside?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function OverScreen(props: OverScreenProps): JSX.Element {
  const { playground, name, label, title = label, back = 'Back to the chat', problem, view, beside, children } = props;
  const { onBack = () => uncover(playground) } = props;
  const first = useRef<HTMLButtonElement>(null);
  const body = useRef<HTMLDivElement>(null);
  useFocus(first, playground);
  useEscape(onBack, playground);
  useLayoutEffect(() => void (body.current && (body.current.scrollTop = 0)), [view]);
  return (
    <main
      class={`over-screen screen-${name}`}
      aria-label={label}
      data-testid={name}
      inert={playground.overlay.value === 'drawer'}
    >
      <header class='top-bar'>
        <DrawerButton playground={playground} />
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
        {beside}
      </header>
      <div ref={body} class={`screen-body ${name}-body`}>
        <Problem text={problem} testId={`${name}-problem`} />
        {children}
      </div>
    </main>
  );
}

/** Opens the side bar where it has no place of its own. */
export function DrawerButton({ playground: { overlay } }: { playground: Playground }): JSX.Element {
  return (
    <IconButton
      icon='menu'
      label='Menu'
      class='only-narrow'
      testId='open-drawer'
      aria-expanded={overlay.value === 'drawer'}
      onClick={() => (overlay.value = 'drawer')}
    />
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
