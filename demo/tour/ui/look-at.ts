/** Shows where to look: marks one element of the page, wherever it is drawn anew. */

const mark = 'tourLook';

/** Marks the last element that the selector finds, now and as the page changes. Returns what takes the mark away. */
export function lookAt(selector: string): () => void {
  let marked: HTMLElement | undefined;
  const find = (): void => {
    const found = [...document.querySelectorAll<HTMLElement>(selector)].at(-1);
    if (found === marked) return;
    unmark(marked);
    marked = found;
    if (!found) return;
    found.dataset[mark] = 'true';
    found.scrollIntoView?.({ block: 'nearest' });
  };
  const observer = new MutationObserver(find);
  observer.observe(document.body, { childList: true, subtree: true });
  find();
  return () => {
    observer.disconnect();
    unmark(marked);
  };
}

function unmark(element: HTMLElement | undefined): void {
  delete element?.dataset[mark];
}
