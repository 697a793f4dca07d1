import { useSignalEffect } from '@preact/signals';
import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { ChatFind } from '../state/chat-find.ts';
import { Icon } from '../../kit/icon.tsx';
import { highlight } from './highlight.ts';

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
      <button
        type='button'
        class='icon-button'
        data-testid='find-close'
        aria-label='Close search'
        onClick={onClose}
      >
        <Icon name='cross' />
      </button>
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
