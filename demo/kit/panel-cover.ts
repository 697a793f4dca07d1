/** Where a side panel is placed at this page width. The style sheet says the same. */

/** Whether there is room for a panel beside the chat. */
export function isBeside(): boolean {
  return matchMedia('(min-width: 72rem)').matches;
}

/** Whether a panel covers all of the chat. */
export function isCovering(): boolean {
  return !matchMedia('(min-width: 56.25rem)').matches;
}

/** Where the panel covers the chat, it has the focus until it is closed; then the menu of the chat has it. */
export function takeFocus(panel: HTMLElement | null, name: 'tree' | 'knowledge'): (() => void) | undefined {
  if (!panel || !isCovering()) return undefined;
  panel.querySelector<HTMLElement>(`[data-testid=${name}-close]`)?.focus();
  return () => {
    const opener = document.querySelector<HTMLElement>('[data-testid=chat-menu]');
    setTimeout(() => opener?.focus(), 0); // the chat is inert until it is drawn anew
  };
}

/** Whether the keys of a page are named as on a Mac. */
export function isMac(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.platform);
}

/** Whether what has the focus takes text. */
export function isWriting(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('input:not([type=radio], [type=checkbox]), textarea') !== null;
}
