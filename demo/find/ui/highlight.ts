/** Marks words where they are drawn, without touching the elements: by the browser's own highlights, where it has them. */

import { forFinding } from '../state/chat-find.ts';

/** Marks what is looked for in the messages that are drawn, and apart from the others in the one at `place`. Without content: nothing. */
export function highlight(
  content: HTMLElement | null,
  { query, place }: { readonly query: string; readonly place: number | undefined },
): void {
  if (typeof Highlight === 'undefined') return;
  const wanted = forFinding(query).trim();
  const found = new Highlight();
  const here = new Highlight();
  for (const message of content && wanted !== '' ? content.querySelectorAll('[aria-posinset]') : []) {
    const isHere = message.getAttribute('aria-posinset') === String((place ?? -1) + 1);
    for (const range of rangesOf(message, wanted)) (isHere ? here : found).add(range);
  }
  CSS.highlights.set('found', found);
  CSS.highlights.set('found-here', here);
}

/** The ranges of the words in an element's text, also across its child elements. */
function rangesOf(element: Element, wanted: string): Range[] {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const nodes: { readonly node: Node; readonly start: number }[] = [];
  let text = '';
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    nodes.push({ node, start: text.length });
    text += node.textContent ?? '';
  }
  const lower = text.toLowerCase().replaceAll(/\s/g, ' ');
  if (lower.length !== text.length) return []; // letters that are two as small ones: places would not fit
  const ranges: Range[] = [];
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, at + wanted.length)) {
    const [from, to] = [
      nodes.findLast(({ start }) => start <= at),
      nodes.findLast(({ start }) => start < at + wanted.length),
    ];
    if (!from || !to) continue;
    const range = document.createRange();
    range.setStart(from.node, at - from.start);
    range.setEnd(to.node, at + wanted.length - to.start);
    ranges.push(range);
  }
  return ranges;
}
