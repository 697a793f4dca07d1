/** Serves the endpoint below a path, such as `/agents`. Signatures cover the whole path, so requests keep their addresses. */

import { getPath } from 'hono/utils/url';

const bases = new WeakMap<Request, string>();

/** Says below which path a request arrived. */
export function setBasePath(request: Request, basePath: string): void {
  bases.set(request, basePath);
}

/** Returns the function that finds a request's path below its base path, or below the endpoint's own. */
export function createGetPath(basePath: string | undefined): (request: Request) => string {
  return (request) => {
    const path = getPath(request);
    const base = (bases.get(request) ?? basePath ?? '').replace(/\/$/, '');
    return base !== '' && path.startsWith(`${base}/`) ? path.slice(base.length) : path;
  };
}
