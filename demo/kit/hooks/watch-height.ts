/** Reports the height of an element now and on each change. Returns a function that stops it. */
export function watchHeight(
  element: HTMLElement | null,
  onHeight: (height: number) => void,
): (() => void) | undefined {
  if (!element) return undefined;
  onHeight(element.clientHeight);
  const observer = new ResizeObserver(() => onHeight(element.clientHeight));
  observer.observe(element);
  return () => observer.disconnect();
}
