/** The keys of the thread, as the WAI-ARIA feed pattern has them: from message to message, to the first and to the last. */

import { isWriting } from '../../kit/panel-cover.ts';

/** The thread as it is drawn. */
interface Feed {
  readonly scroller: HTMLElement;
  /** Messages in all, those that are not drawn among them. */
  readonly count: number;
}

/** Returns the place of the message that a key goes to; none where the browser scrolls, as through a message that is higher than the thread. */
export function placeByKey(event: KeyboardEvent, { scroller, count }: Feed): number | undefined {
  const { key, target } = event;
  const isPlain = !event.defaultPrevented && !event.ctrlKey && !event.metaKey && !event.altKey && !event.shiftKey;
  if (!isPlain || isWriting(target) || !(target instanceof Element)) return undefined;
  if (key === 'Home') return 0;
  if (key === 'End') return count - 1;
  if (key !== 'PageDown' && key !== 'PageUp') return undefined;
  const own = target.closest('[aria-posinset]');
  const message = own ?? firstInSight(scroller);
  if (!message) return undefined;
  const [visible, { top, bottom }] = [scroller.getBoundingClientRect(), message.getBoundingClientRect()];
  const place = Number(message.getAttribute('aria-posinset')) - 1;
  const isOver = key === 'PageDown' ? bottom > visible.bottom + 1 : top < visible.top - 1;
  if (isOver) return own ? undefined : place;
  const next = key === 'PageDown' ? place + 1 : place - 1;
  return next >= 0 && next < count ? next : undefined;
}

function firstInSight(scroller: HTMLElement): Element | undefined {
  const { top } = scroller.getBoundingClientRect();
  return [...scroller.querySelectorAll('[aria-posinset]')].find((one) => one.getBoundingClientRect().bottom > top);
}
