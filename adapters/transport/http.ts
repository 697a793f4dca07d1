/** `pinnace/transport/http`: the HTTP endpoint, a `Request` in and a `Response` out. */

export type { Revocable } from './signed/caller.ts';
export { type ConnectionInfo, createHandler, type Handler, type HandlerOptions } from './handler.ts';
