import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import temml from 'temml';

/** The largest sizes and numbers of expansions that a formula may ask for: its text is untrusted. */
const limits = { trust: false, maxSize: [20, 20], maxExpand: 500, strict: false } as const;

/** A formula in TeX, as MathML. One that cannot be read is shown as it is written. */
export function Formula({ text, isBlock }: { text: string; isBlock: boolean }): JSX.Element {
  const place = useRef<HTMLElement>(null);
  const isWrong = useSignal(false);
  useLayoutEffect(() => {
    try {
      isWrong.value = false;
      if (place.current) {
        temml.render(text, place.current, {
          ...limits,
          maxSize: [...limits.maxSize],
          displayMode: isBlock,
          throwOnError: true,
        });
      }
    } catch {
      isWrong.value = true;
    }
  }, [text, isBlock]);
  return (
    <>
      <span ref={place} class={isBlock ? 'formula is-block' : 'formula'} hidden={isWrong.value} data-testid='formula' />
      {isWrong.value && <code>{text}</code>}
    </>
  );
}
