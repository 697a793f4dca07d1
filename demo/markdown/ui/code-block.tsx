import type { JSX } from 'preact';
import { CopyButton } from '../../kit/copy-button.tsx';

/** Code with its language and a button that copies it. */
export function CodeBlock({ language, text }: { language: string; text: string }): JSX.Element {
  return (
    <div class='code-block'>
      <div class='code-head'>
        <span>{language || 'text'}</span>
        <CopyButton text={() => text} label='Copy' />
      </div>
      <pre tabIndex={0}><code>{text}</code></pre>
    </div>
  );
}
