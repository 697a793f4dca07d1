import { useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { CopyButton } from '../../kit/copy-button.tsx';
import type { Token } from '../state/highlight.ts';

interface CodeBlockProps {
  readonly language: string;
  readonly text: string;
  /** Whether the block has come to its end. It is colored then, not while it grows. */
  readonly closed: boolean;
}

/** Code with its language, its colors, and a button that copies it. */
export function CodeBlock({ language, text, closed }: CodeBlockProps): JSX.Element {
  const colored = useSignal<{ readonly of: string; readonly tokens: readonly Token[] } | undefined>(undefined);
  useEffect(() => {
    let isHere = true;
    if (closed && language !== '') {
      import('../state/highlight.ts').then(({ highlight }) => highlight(text, language)).then(
        (tokens) => isHere && tokens && (colored.value = { of: text, tokens }),
        () => undefined, // it stays in one color
      );
    }
    return () => void (isHere = false);
  }, [text, language, closed]);
  const tokens = colored.value?.of === text ? colored.value.tokens : undefined;
  return (
    <div class='code-block' dir='ltr'>
      <div class='code-head'>
        <span>{language || 'text'}</span>
        <CopyButton text={() => text} label='Copy' />
      </div>
      <pre tabIndex={0}><code>{tokens ? tokens.map(renderToken) : text}</code></pre>
    </div>
  );
}

function renderToken({ text, kind }: Token, i: number): ComponentChildren {
  return kind === undefined ? text : <span key={i} class={`token-${kind}`}>{text}</span>;
}
