/**
 * What a route declares about itself, next to its handler. `document.ts` generates the OpenAPI document from it. `hono-openapi` is not
 * used: it is larger than Hono, depends on six packages, and drops silently what a schema cannot express.
 */

import type { MiddlewareHandler } from 'hono';
import * as v from 'valibot';
import { problemCodes } from '../../../src/base/errors.ts';
import { jsonSchemaOf } from '../../../src/base/json-schema-of.ts';
import type { Scope } from '../../../src/base/principal.ts';

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

export type OutputOf<O> = O extends { readonly responses: infer R } ? JsonOf<R[keyof R & (200 | 201 | 202 | 204)]>
  : never;

type JsonOf<A> = A extends Answer<infer T> ? T : never;

export type WithTimes<T, Times extends keyof T> = Omit<T, Times> & { readonly [K in Times]: string };

export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Json;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters?: readonly Parameter[];
  /** The schema that parses the query: each of its fields is a parameter. */
  readonly query?: v.GenericSchema<unknown, unknown>;
  readonly body?: Shape;
  readonly bodyIsOptional?: true;
  readonly bodyIsFile?: true;
  /** The body may have 16 MiB instead of 1 MiB. */
  readonly hasLargeBody?: true;
  /** By status. */
  readonly responses: Readonly<Record<number, Answer>>;
  readonly problems?: readonly number[];
}

export type Route = `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`;

export type PathOf<R extends string> = R extends `${string} ${infer Path}` ? Path : never;

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

export function declare<M extends MiddlewareHandler>(operation: Operation | SignedOperation, middleware: M): M {
  operations.set(middleware, operation);
  return middleware;
}

export function open(operation: Operation): MiddlewareHandler {
  return declare(operation, async (_, next) => await next());
}

export function shapeOf(schema: v.GenericSchema<unknown, unknown>): Shape {
  return () => jsonSchemaOf(schema);
}

export function named(name: string, shape: Shape): Shape {
  return (components) => {
    components[name] ??= shape(components);
    return { $ref: `#/components/schemas/${name}` };
  };
}

export function pageOf(item: Shape): Shape {
  return (components) => ({
    type: 'object',
    properties: { items: { type: 'array', items: item(components) }, nextPageToken: { type: 'string' } },
    required: ['items'],
  });
}

export function json<T = unknown>(description: string, shape: Shape): Answer<T> {
  return { description, content: { 'application/json': shape } };
}

/** The bytes of a file. */
export const fileShape: Shape = () => ({ type: 'string', contentMediaType: 'application/octet-stream' });

export function empty(description: string): Answer<undefined> {
  return { description };
}

/** The header by which clients resume an event stream. */
export const lastEventId: Parameter = { name: 'Last-Event-ID', in: 'header', schema: { type: 'string' } };

type Components = Record<string, Json>;

export function describeApp(
  { routes }: {
    readonly routes: readonly { readonly path: string; readonly method: string; readonly handler: object }[];
  },
): Json {
  const schemas: Components = {};
  const paths: Record<string, Record<string, Json>> = {};
  for (const { path, method, handler } of routes) {
    const operation = operations.get(handler);
    if (operation) {
      const template = path.replaceAll(/:(\w+)/g, '{$1}');
      (paths[template] ??= {})[method.toLowerCase()] = describeOperation(operation, template, schemas);
    }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Pinnace', version: '1', license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/', description: 'The server that this document comes from' }],
    paths,
    components: { schemas, securitySchemes: { gcSession } },
  };
}

const gcSession: Json = {
  type: 'http',
  scheme: 'GC-Session',
  description: 'A session certificate, and an HTTP message signature (RFC 9421) by the key that it names',
};

/** Every request that is verified may be rejected with these. */
const signedProblems = [400, 401, 403, 408, 429, 503];

function describeOperation(operation: Operation | SignedOperation, path: string, schemas: Components): Json {
  const { operationId, summary, responses, problems = [] } = operation;
  const parameters = [...pathParameters(path), ...queryParameters(operation), ...operation.parameters ?? []];
  const isSigned = 'scope' in operation;
  const statuses = isSigned ? [...signedProblems, ...problems] : problems;
  return {
    operationId,
    summary,
    ...(isSigned ? { security: [{ gcSession: [operation.scope] }] } : { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...requestBodyOf(operation, schemas),
    responses: {
      ...Object.fromEntries(statuses.map((status) => [status, describeAnswer(problem, schemas)])),
      ...Object.fromEntries(Object.entries(responses).map(([status, one]) => [status, describeAnswer(one, schemas)])),
      ...(isSigned && { default: describeAnswer(problem, schemas) }),
    },
  };
}

function requestBodyOf({ body, bodyIsOptional, bodyIsFile }: Operation, schemas: Components): Json {
  if (bodyIsFile) return { requestBody: { required: true, content: contentOf({ '*/*': fileShape }, schemas) } };
  if (!body) return {};
  return {
    requestBody: { required: bodyIsOptional !== true, content: contentOf({ 'application/json': body }, schemas) },
  };
}

function describeAnswer({ description, content }: Answer, schemas: Components): Json {
  return { description, ...(content && { content: contentOf(content, schemas) }) };
}

function contentOf(content: Readonly<Record<string, Shape>>, schemas: Components): Json {
  return Object.fromEntries(Object.entries(content).map(([type, shape]) => [type, { schema: shape(schemas) }]));
}

function pathParameters(path: string): readonly Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => (
    { name, in: 'path', required: true, schema: { type: 'string' } }
  ));
}

function queryParameters({ query }: Operation): readonly Json[] {
  if (!query) return [];
  const { properties = {} } = jsonSchemaOf(query) as { properties?: Record<string, Json> }; // the schema of an object
  return Object.entries(properties).map(([name, schema]) => ({ name, in: 'query', schema }));
}

export const ErrorData = v.object({
  code: v.string(),
  message: v.string(),
  retryable: v.boolean(),
  retryAfterMs: v.optional(v.number()),
  details: v.optional(v.record(v.string(), v.unknown())),
});

/** What a run has used: counts by name, and the cost where the prices of all its models are known. */
export const Usage = v.objectWithRest({
  /** A provider has not reported all of it. */
  estimated: v.optional(v.literal(true)),
  cost: v.optional(v.object({ amount: v.number(), currency: v.string() })),
  /** How much of the prompts a provider may have cached, and where that ended. */
  cache: v.optional(v.object({
    cacheableTokens: v.number(),
    breaks: v.array(v.object({ step: v.number(), reason: v.string(), lostTokens: v.number() })),
  })),
}, v.number());

export const Time = v.pipe(v.string(), v.isoTimestamp());

/** Who did something, or what it was done to. */
const Named = v.object({ type: v.string(), id: v.string() });

export const ObservedEvent = v.object({
  timestamp: Time,
  traceId: v.string(),
  spanId: v.optional(v.string()),
  parentSpanId: v.optional(v.string()),
  actor: Named,
  action: v.string(),
  target: Named,
  status: v.picklist(['pending', 'ok', 'error', 'denied', 'cancelled']),
  latency: v.number(),
  error: v.nullable(ErrorData),
  payloadSummary: v.string(),
});

const Problem = v.object({
  type: v.string(),
  title: v.string(),
  status: v.pipe(v.number(), v.integer()),
  code: v.picklist(problemCodes),
  detail: v.string(),
  retryable: v.boolean(),
  retryAfterMs: v.optional(v.pipe(v.number(), v.integer())),
  details: v.optional(v.record(v.string(), v.unknown())),
  serverTime: Time,
  traceId: v.string(),
});

const problem: Answer = {
  description: 'A problem (RFC 9457)',
  content: { 'application/problem+json': named('Problem', shapeOf(Problem)) },
};
