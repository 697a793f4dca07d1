/** Serves the endpoint below a path, such as `/agents`. Signatures cover the whole path, so requests keep their addresses. */

import { getPath } from 'hono/utils/url';
import { wellKnownPath } from './mcp-auth.ts';

const bases = new WeakMap<Request, string>();

/** Says below which path a request arrived. */
export function setBasePath(request: Request, basePath: string): void {
  bases.set(request, basePath);
}

/**
 * Returns the function that finds a request's path below its base path, or below the endpoint's own. A path outside of it is one that
 * the endpoint does not serve, but for the description of `/mcp`: RFC 9728 puts it at the root of the host.
 */
export function createGetPath(basePath: string | undefined): (request: Request) => string {
  return (request) => {
    const path = getPath(request);
    const base = (bases.get(request) ?? basePath ?? '').replace(/\/$/, '');
    if (base === '' || path.startsWith(`${wellKnownPath}/`)) return path;
    return path.startsWith(`${base}/`) ? path.slice(base.length) : '/';
  };
}
