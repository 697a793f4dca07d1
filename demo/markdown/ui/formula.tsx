import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import temml from 'temml';

/** The largest sizes and numbers of expansions that a formula may ask for: its text is untrusted. */
const limits = { trust: false, maxExpand: 500, strict: false } as const;

/** Longer formulas are shown as they are written: some macros take time by the square of it. In UTF-16 code units. */
const longest = 4_000;

/** How long formulas keep the page busy before others have their turn. */
const turnMs = 12;

let turnStart = -Infinity;
const waiting: (() => void)[] = [];

/** Does the work now, or in a later turn: a text may hold thousands of formulas. Returns what takes it back. */
function inTurn(work: () => void): () => void {
  const now = performance.now();
  if (turnStart === -Infinity) {
    turnStart = now;
    setTimeout(nextTurn);
  }
  if (waiting.length === 0 && now - turnStart < turnMs) work();
  else waiting.push(work);
  return () => {
    const at = waiting.indexOf(work);
    if (at >= 0) waiting.splice(at, 1);
  };
}

function nextTurn(): void {
  turnStart = performance.now();
  let done = 0;
  while (done < waiting.length && performance.now() - turnStart < turnMs) waiting[done++]?.();
  waiting.splice(0, done);
  if (waiting.length > 0) setTimeout(nextTurn);
  else turnStart = -Infinity;
}

/** A formula in TeX, as MathML. One that cannot be read is shown as it is written. */
export function Formula({ text, isBlock }: { text: string; isBlock: boolean }): JSX.Element {
  const place = useRef<HTMLElement>(null);
  const isWrong = useSignal(false);
  useLayoutEffect(() =>
    inTurn(() => {
      try {
        isWrong.value = text.length > longest;
        if (!place.current || isWrong.value) return;
        temml.render(text, place.current, {
          ...limits,
          maxSize: [20, 20],
          displayMode: isBlock,
          throwOnError: true,
        });
      } catch {
        isWrong.value = true;
      }
    }), [text, isBlock]);
  return (
    <>
      <span ref={place} class={isBlock ? 'formula is-block' : 'formula'} hidden={isWrong.value} data-testid='formula' />
      {isWrong.value && <code>{text}</code>}
    </>
  );
}
