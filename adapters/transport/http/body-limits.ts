/** The largest bodies, in bytes, route by route. */

/** Of any request that nothing else is said of. */
const usual = 1_048_576;

/** Of a whole catalogue, and of files for a data source. */
const ofImports = 16_777_216;

/** Gives the largest body that this request may have. */
export function bodyLimitOf({ method, url }: Pick<Request, 'method' | 'url'>): number {
  return method === 'POST' && /\/v1\/(?:import|data-sources\/[^/]+\/ingest)$/.test(new URL(url).pathname)
    ? ofImports
    : usual;
}
