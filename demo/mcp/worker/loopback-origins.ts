/** Returns the origins of addresses on this machine. */
export function loopbackOrigins(urls: readonly (string | undefined)[]): readonly string[] {
  const origins = urls.map((url) => url === undefined ? '' : URL.parse(url)?.origin ?? '');
  return [...new Set(origins.filter((origin) => /^https?:\/\/(?:127\.0\.0\.1|\[::1\])(?::\d+)?$/.test(origin)))];
}
