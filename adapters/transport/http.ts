/** `pinnace/transport/http`: the HTTP endpoint, a `Request` in and a `Response` out. */

export {
  type ConnectionInfo,
  createHandler,
  type Handler,
  type HandlerContext,
  type HandlerOptions,
  type Revocable,
} from './http/handler.ts';
