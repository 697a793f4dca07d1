import type { ReadonlySignal } from '@preact/signals';
import type { JSX } from 'preact';
import { lazy } from '../../kit/lazy.tsx';

/** An answer's text as Markdown; until its reader has been fetched, as it is written. */
export const Markdown = lazy(async () => (await import('./markdown.tsx')).Markdown, { StandIn: PlainText });

function PlainText({ text }: { text: ReadonlySignal<string>; isLive: boolean }): JSX.Element {
  return <p class='plain-text'>{text}</p>;
}
