/** Marks words where they are drawn, without touching the elements: by the browser's own highlights, where it has them. */

import { useSignalEffect } from '@preact/signals';
import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Icon } from '../../kit/icon.tsx';
import { type ChatFind, forFinding } from '../state/chat-find.ts';
import { IconButton } from '../../kit/button.tsx';

interface FindBarProps {
  readonly find: ChatFind;
  /** The messages that are drawn. */
  readonly content: () => HTMLElement | null;
  readonly onClose: () => void;
}

/** Looks for words in the chat, from the newest message to the oldest. */
export function FindBar({ find, content, onClose }: FindBarProps): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  useSignalEffect(() => {
    if (find.focusRequests.value > 0) field.current?.select();
  });
  useHighlight(find, content);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') onClose();
    else if (event.key === 'Enter') find.step(event.shiftKey ? 1 : -1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const count = find.found.value.length;
  return (
    <div class='find-bar' role='search' aria-label='This chat' data-testid='find-bar'>
      <Icon name='search' />
      <input
        ref={field}
        type='text'
        aria-label='Search in this chat'
        placeholder='Search in this chat'
        autocomplete='off'
        data-testid='find-query'
        value={find.query.value}
        onInput={({ currentTarget }) => find.look(currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <span class='find-count' role='status' data-testid='find-count'>{wordsFor(find)}</span>
      <Step find={find} by={-1} label='Older message' isOff={count < 2} />
      <Step find={find} by={1} label='Newer message' isOff={count < 2} />
      <IconButton icon='cross' label='Close search' onClick={onClose} />
    </div>
  );
}

function wordsFor({ query, found, at }: ChatFind): string {
  if (query.value.trim() === '') return '';
  const count = found.value.length;
  return count === 0 ? 'Nothing found' : `${(at.value + 1).toLocaleString('en')} of ${count.toLocaleString('en')}`;
}

interface StepProps {
  readonly find: ChatFind;
  readonly by: 1 | -1;
  readonly label: string;
  readonly isOff: boolean;
}

function Step({ find, by, label, isOff }: StepProps): JSX.Element {
  return (
    <button
      type='button'
      class={`icon-button find-step ${by < 0 ? 'is-older' : 'is-newer'}`}
      data-testid={by < 0 ? 'find-older' : 'find-newer'}
      aria-label={label}
      title={`${label} (${by < 0 ? 'Enter' : 'Shift Enter'})`}
      disabled={isOff}
      onClick={() => find.step(by)}
    >
      <Icon name='chevron' />
    </button>
  );
}

/** Marks what was found as it is drawn, and again when something else is drawn. */
function useHighlight(find: ChatFind, content: () => HTMLElement | null): void {
  const mark = useRef(() => {});
  mark.current = () => highlight(content(), { query: find.query.peek(), place: find.found.peek()[find.at.peek()] });
  useSignalEffect(() => {
    void [find.query.value, find.found.value, find.at.value];
    mark.current();
  });
  useLayoutEffect(() => {
    const inner = content();
    if (!inner) return undefined;
    let frame = 0;
    const observer = new MutationObserver(() => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => mark.current());
    });
    observer.observe(inner, { childList: true, subtree: true, characterData: true });
    return () => {
      observer.disconnect();
      cancelAnimationFrame(frame);
      highlight(null, { query: '', place: undefined });
    };
  }, []);
}

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
