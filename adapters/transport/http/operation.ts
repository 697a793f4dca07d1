/**
 * What a route declares about itself, next to its handler. `document.ts` generates the OpenAPI document from it. `hono-openapi` is not
 * used: it is larger than Hono, depends on six packages, and drops silently what a schema cannot express.
 */

import type { MiddlewareHandler } from 'hono';
import type * as v from 'valibot';
import type { Scope } from '../../../src/base/principal.ts';
import { jsonSchemaOf } from '../../../src/base/json-schema-of.ts';

/** A part of the document. */
export type Json = Readonly<Record<string, unknown>>;

/** Returns a JSON Schema. Called when the document is generated; adds the schemas that it refers to by name to the components. */
export type Shape = (components: Record<string, Json>) => Json;

/** One response of a route; `T` is what a client reads from its JSON. */
export interface Answer<T = unknown> {
  readonly description: string;
  /** The schema of each media type; absent for a response without a body. */
  readonly content?: Readonly<Record<string, Shape>>;
  /** Only in types. */
  readonly json?: T;
}

/** What a client reads from the successful response of an operation. */
export type OutputOf<O> = O extends { readonly responses: infer R } ? JsonOf<R[keyof R & (200 | 201 | 202 | 204)]>
  : never;

type JsonOf<A> = A extends Answer<infer T> ? T : never;

/** A value whose times are texts on the wire. */
export type WithTimes<T, Times extends keyof T> = Omit<T, Times> & { readonly [K in Times]: string };

/** A parameter in the query or in a header. Those in the path come from the path. */
export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Json;
}

/** What a route declares. */
export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters?: readonly Parameter[];
  /** The schema that parses the query: each of its fields is a parameter. */
  readonly query?: v.GenericSchema<unknown, unknown>;
  /** The JSON body. */
  readonly body?: Shape;
  readonly bodyIsOptional?: true;
  /** The body is the bytes of a file. */
  readonly bodyIsFile?: true;
  /** The body may have 16 MiB instead of 1 MiB. */
  readonly hasLargeBody?: true;
  /** By status. */
  readonly responses: Readonly<Record<number, Answer>>;
  /** The statuses of its problems, besides those that every signed route has. */
  readonly problems?: readonly number[];
}

/** An operation is named by its verb and its path. */
export type Route = `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`;

/** The path of a route. */
export type PathOf<R extends string> = R extends `${string} ${infer Path}` ? Path : never;

/** A table of operations. */
export type Operations = Readonly<Record<Route, Operation | SignedOperation>>;

/** What a route declares that serves verified callers only. */
export interface SignedOperation extends Operation {
  readonly scope: Scope;
  /** The runtime checks the scope itself: it reads the request first, or emits an event when it rejects. */
  readonly checkedBy?: 'runtime';
  /** The route uses up the request's nonce in a commit of its own; what it leaves is used up before the response. */
  readonly usesNonce?: true;
}

const operations = new WeakMap<object, Operation | SignedOperation>();

/** Records what the route of this middleware declares. */
export function declare<M extends MiddlewareHandler>(operation: Operation | SignedOperation, middleware: M): M {
  operations.set(middleware, operation);
  return middleware;
}

/** What a route declares, if this handler is its declaration. */
export function operationOf(handler: object): Operation | SignedOperation | undefined {
  return operations.get(handler);
}

/** Declares a route that serves everyone: without authentication. */
export function open(operation: Operation): MiddlewareHandler {
  return declare(operation, async (_, next) => await next());
}

/** The shape of a valibot schema. */
export function shapeOf(schema: v.GenericSchema<unknown, unknown>): Shape {
  return () => jsonSchemaOf(schema);
}

/** A shape under `components.schemas`. */
export function named(name: string, shape: Shape): Shape {
  return (components) => {
    components[name] ??= shape(components);
    return { $ref: `#/components/schemas/${name}` };
  };
}

/** The shape of one page of a listing. */
export function pageOf(item: Shape): Shape {
  return (components) => ({
    type: 'object',
    properties: { items: { type: 'array', items: item(components) }, nextPageToken: { type: 'string' } },
    required: ['items'],
  });
}

/** A response with a JSON body. */
export function json<T = unknown>(description: string, shape: Shape): Answer<T> {
  return { description, content: { 'application/json': shape } };
}

/** The bytes of a file. */
export const fileShape: Shape = () => ({ type: 'string', contentMediaType: 'application/octet-stream' });

/** A response without a body. */
export function empty(description: string): Answer<undefined> {
  return { description };
}

/** The header by which clients resume an event stream. */
export const lastEventId: Parameter = { name: 'Last-Event-ID', in: 'header', schema: { type: 'string' } };
