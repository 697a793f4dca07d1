/** The address to follow, or nothing: only `http`, `https` and `mailto` are. */
export function safeHref(text: string): string | undefined {
  const url = URL.parse(text);
  return url && (url.protocol === 'https:' || url.protocol === 'http:' || url.protocol === 'mailto:')
    ? url.href
    : undefined;
}
