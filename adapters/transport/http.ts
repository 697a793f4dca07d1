/** `pinnace/transport/http`: the HTTP endpoint, a `Request` in and a `Response` out. */

export type { Revocable } from './http/authentication.ts';
export { type ConnectionInfo, createHandler, type Handler, type HandlerOptions } from './http/handler.ts';
