/**
 * A button with a menu: arrow keys, Home, End and first letters move, Esc and a press elsewhere close, and the focus returns.
 * The menu lies in the top layer, so no list that scrolls cuts it.
 */

import { useSignal } from '@preact/signals';
import type { ComponentChildren, JSX, RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Icon, type IconName } from './icon.tsx';

export interface MenuItem {
  readonly testId: string;
  readonly icon: IconName;
  readonly title: string;
  readonly onChoose: () => void;
  /** Below a line of its own, in red. */
  readonly isDanger?: boolean;
}

interface MenuButtonProps {
  readonly label: string;
  readonly testId: string;
  readonly class?: string;
  /** Read when the menu opens. */
  readonly items: () => readonly MenuItem[];
  readonly children: ComponentChildren;
}

/** The button; the menu is there while it is open. */
export function MenuButton(
  { label, testId, class: className = 'icon-button', items, children }: MenuButtonProps,
): JSX.Element {
  const isOpen = useSignal(false);
  const button = useRef<HTMLButtonElement>(null);
  return (
    <>
      <button
        ref={button}
        type='button'
        class={className}
        data-testid={testId}
        aria-label={label}
        title={label}
        aria-haspopup='menu'
        aria-expanded={isOpen.value}
        onClick={() => (isOpen.value = !isOpen.value)}
      >
        {children}
      </button>
      {isOpen.value && button.current && (
        <Menu label={label} opener={button.current} items={items()} onClose={() => (isOpen.value = false)} />
      )}
    </>
  );
}

interface MenuProps {
  readonly label: string;
  readonly opener: HTMLElement;
  readonly items: readonly MenuItem[];
  readonly onClose: () => void;
}

interface Opened {
  readonly opener: HTMLElement;
  /** What gets the focus. */
  readonly first: string;
  readonly onClose: () => void;
}

/** Opens a menu below its button, and closes it with a press elsewhere. */
export function useOpened(menu: RefObject<HTMLElement | null>, { opener, first, onClose }: Opened): void {
  useLayoutEffect(() => {
    if (!menu.current) return undefined;
    openBelow(menu.current, opener);
    menu.current.querySelector<HTMLElement>(first)?.focus();
    return closeOutside(menu.current, opener, onClose);
  }, []);
}

function Menu({ label, opener, items, onClose }: MenuProps): JSX.Element {
  const menu = useRef<HTMLDivElement>(null);
  useOpened(menu, { opener, first: '[role=menuitem]', onClose });
  const leave = (): void => {
    opener.focus();
    onClose();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Tab') return onClose();
    if (event.key === 'Escape') leave();
    else if (!moveIn(menu.current, event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div ref={menu} class='menu' role='menu' aria-label={label} popover='manual' onKeyDown={onKeyDown}>
      {items.map(({ testId, icon, title, isDanger = false, onChoose }) => (
        <button
          key={testId}
          type='button'
          role='menuitem'
          tabIndex={-1}
          class='menu-item'
          data-testid={testId}
          data-danger={isDanger}
          onClick={() => {
            leave();
            onChoose();
          }}
        >
          <Icon name={icon} />
          {title}
        </button>
      ))}
    </div>
  );
}

/** Shows an element in the top layer below its opener, or above where there is more room; its right edge is the opener's. */
function openBelow(element: HTMLElement, opener: HTMLElement): void {
  element.showPopover?.();
  place(element, opener);
}

function place(element: HTMLElement, opener: HTMLElement): void {
  const [from, size, gap] = [opener.getBoundingClientRect(), element.getBoundingClientRect(), 4];
  const below = from.bottom + gap;
  const isAbove = below + size.height > innerHeight - gap && from.top > innerHeight - from.bottom;
  element.style.top = `${Math.max(gap, isAbove ? from.top - gap - size.height : below)}px`;
  element.style.left = `${Math.max(gap, Math.min(from.right - size.width, innerWidth - size.width - gap))}px`;
}

/** Calls `close` at a press outside both, and keeps the element at its opener. Returns a function that stops both. */
function closeOutside(element: HTMLElement, opener: HTMLElement, close: () => void): () => void {
  const onPress = ({ target }: Event): void => {
    if (target instanceof Node && !element.contains(target) && !opener.contains(target)) close();
  };
  const onResize = (): void => place(element, opener);
  document.addEventListener('pointerdown', onPress, true);
  addEventListener('resize', onResize);
  return () => {
    document.removeEventListener('pointerdown', onPress, true);
    removeEventListener('resize', onResize);
  };
}

/** Returns whether the key moved the focus. */
function moveIn(menu: HTMLElement | null, key: string): boolean {
  const items = [...menu?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? []];
  const at = items.findIndex((item) => item === document.activeElement);
  const next = nextIn(items, at, key);
  next?.focus();
  return next !== undefined;
}

function nextIn(items: readonly HTMLElement[], at: number, key: string): HTMLElement | undefined {
  switch (key) {
    case 'ArrowDown':
      return items[(at + 1) % items.length];
    case 'ArrowUp':
      return items.at(at - 1);
    case 'Home':
      return items[0];
    case 'End':
      return items.at(-1);
    default: {
      if (!/^\p{L}$/u.test(key)) return undefined;
      const rest = [...items.slice(at + 1), ...items.slice(0, at + 1)];
      return rest.find(({ textContent }) => textContent?.trim().toLowerCase().startsWith(key.toLowerCase()));
    }
  }
}
