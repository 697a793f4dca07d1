import { useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { CopyButton } from './copy-button.tsx';
import { Button } from './button.tsx';

/** How much is shown at first, and how much is coloured. */
const maxShown = 12_000;

/** A value as readable JSON; text is unchanged. */
export function JsonView({ label, value }: { label: string; value: unknown }): JSX.Element {
  const isWhole = useSignal(false);
  const text = useMemo(() => typeof value === 'string' ? value : JSON.stringify(value, null, 2) ?? '', [value]);
  const isCut = text.length > maxShown && !isWhole.value;
  const shown = isCut ? text.slice(0, maxShown) : text;
  const content = useMemo(
    () => typeof value === 'string' || shown.length > maxShown ? shown : colour(shown),
    [value, shown],
  );
  return (
    <section class='json-view'>
      <div class='code-head'>
        <span>{label}</span>
        <CopyButton text={() => text} label='Copy' />
      </div>
      <pre tabIndex={0} aria-label={label}>{content}</pre>
      {isCut && (
        <Button kind='quiet' onClick={() => (isWhole.value = true)}>
          Show all {Math.ceil(text.length / 1024).toLocaleString('en')} KB
        </Button>
      )}
    </section>
  );
}

/** Splits JSON text into keys, texts and other literals. */
function colour(json: string): ComponentChildren {
  const out: ComponentChildren[] = [];
  let last = 0;
  for (const found of json.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null/g)) {
    const [all, text, colon] = found;
    const kind = text === undefined ? 'literal' : colon === undefined ? 'text' : 'key';
    out.push(json.slice(last, found.index), <span key={found.index} class={`json-${kind}`}>{text ?? all}</span>, colon);
    last = found.index + all.length;
  }
  return [...out, json.slice(last)];
}
