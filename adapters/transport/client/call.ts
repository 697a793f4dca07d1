/** Calls operations of an endpoint by their verb and path, as its table names them. */

import type { EndpointOperations } from '../http/operations.ts';
import type { OutputOf, Route } from '../http/operation.ts';
import { callRoute, type Connection } from './connection.ts';

/** Options of a client call. */
export interface CallOptions {
  /** Aborts the call and its stream. The run continues; `cancel` stops it. */
  readonly signal?: AbortSignal | undefined;
}

/** What a request may have besides its path. */
export interface CallInput extends CallOptions {
  readonly query?: Parameters<typeof queryOf>[0];
  readonly body?: unknown;
  /** The version to change: `If-Match`. */
  readonly version?: number | undefined;
}

type ParamsOf<Path> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Readonly<Record<Name, string>> & ParamsOf<Rest>
  : Path extends `${string}:${infer Name}` ? Readonly<Record<Name, string>>
  : unknown;

/** Calls an operation and returns the JSON of its response. */
export type Call = <R extends keyof EndpointOperations & Route>(
  route: R,
  params: ParamsOf<R>,
  given?: CallInput,
) => Promise<OutputOf<EndpointOperations[R]>>;

/** Creates the function that calls operations. */
export function createCall(connection: Connection): Call {
  return async (route, params, given) => {
    const [method = '', template = ''] = route.split(' ');
    const path = template.replace(
      /:(\w+)/g,
      (_, name: string) => encodeURIComponent(String(Reflect.get(Object(params), name))),
    );
    return await callPath(connection, { method, path }, given) as never; // safe: the row of the operation says what it returns
  };
}

/** Calls any route. */
export async function callPath(
  connection: Connection,
  { method, path }: { readonly method: string; readonly path: string },
  { signal = new AbortController().signal, query = {}, body, version }: CallInput = {},
): Promise<unknown> {
  return await callRoute(connection, { method, path: path + queryOf(query), body, signal, ifMatch: version });
}

type Field = string | number | boolean | undefined;

/** Returns `?a=1&b=2&b=3`, without undefined fields; an empty string when nothing is left. */
export function queryOf(question: Readonly<Record<string, Field | readonly string[]>>): string {
  const fields = Object.entries(question).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one): [string, string] => [name, String(one)])
  );
  return fields.length === 0 ? '' : `?${new URLSearchParams(fields)}`;
}
