/** The routes of one kind of record in the registry: register, read, list, change, disable, remove, history. */

import type { Context } from 'hono';
import * as v from 'valibot';
import { PinnaceError } from '../../../../src/base/errors.ts';
import { jsonSchemaOf } from '../../../../src/base/json-schema-of.ts';
import { parse } from '../../../../src/base/parse.ts';
import type { Principal } from '../../../../src/base/principal.ts';
import type { Collection, Registration } from '../../../../src/registry/collection.ts';
import { RegistryQuery } from '../../../../src/registry/list.ts';
import { type Access, ownerOf } from '../../../../src/registry/owner.ts';
import { collectionNames, kindNames, type RecordKind, recordSchemas } from '../../../../src/registry/record-kinds.ts';
import type { WriteOptions } from '../../../../src/registry/write.ts';
import type { Served, SignedEnv } from '../authentication.ts';
import {
  empty,
  type Json,
  json,
  named,
  pageOf,
  type Parameter,
  type Shape,
  shapeOf,
  type SignedOperation,
  Time,
} from '../operation.ts';
import { readJson } from '../request.ts';

/** A body before its kind's schema parses it: an object. */
const Body = v.looseObject({ id: v.optional(v.string()) });

export function collectionRoutes<Kind extends RecordKind>(
  endpoint: Served,
  kind: Kind,
  collection: Collection<Kind>,
): void {
  const base = `/v1/${collectionNames[kind]}` as const;
  const serve = endpoint.serve({ ...readOperations(kind), ...writeOperations(kind) });
  serve(`GET ${base}`, async (c) => {
    const access = accessOf(c);
    const { items, ...page } = await collection.list(listQueryOf(c), access);
    return c.json({ items: items.map((record) => viewOf(record, access)), ...page });
  });
  serve(`POST ${base}`, async (c) => {
    const write = writeOf(c);
    const record = await collection.register(await bodyOf(c, kind), write);
    const location = `/v1/${collectionNames[kind]}/${encodeURIComponent(record.id)}`;
    return c.json(viewOf(record, write), 201, { ...etagOf(record), location });
  });
  serve(`GET ${base}/:id`, async (c) => {
    const access = accessOf(c);
    const record = await collection.get(idOf(c), access);
    return c.json(viewOf(record, access), 200, etagOf(record));
  });
  serve(`PUT ${base}/:id`, async (c) => {
    const write = { ...writeOf(c), version: requireVersion(c) };
    const record = await collection.replace(idOf(c), await bodyOf(c, kind), write);
    return c.json(viewOf(record, write), 200, etagOf(record));
  });
  serve(`PATCH ${base}/:id`, async (c) => {
    const write = { ...writeOf(c), version: requireVersion(c) };
    const record = await collection.update(idOf(c), await bodyOf(c, kind), write);
    return c.json(viewOf(record, write), 200, etagOf(record));
  });
  serve(`DELETE ${base}/:id`, async (c) => {
    const version = versionOf(c);
    await collection.remove(idOf(c), { ...writeOf(c), ...(version !== undefined && { version }) });
    return c.body(null, 204);
  });
  for (const change of ['disable', 'enable'] as const) {
    serve(`POST ${base}/:id/${change}`, async (c) => {
      const write = writeOf(c);
      const record = await collection[change](idOf(c), write);
      return c.json(viewOf(record, write), 200, etagOf(record));
    });
  }
  serve(`GET ${base}/:id/history`, async (c) => {
    const access = accessOf(c);
    const { limit, pageToken } = listQueryOf(c);
    const page = { pageToken, ...(limit !== undefined && { limit }) };
    return c.json(await collection.history(idOf(c), { ...access, ...page }));
  });
}

function idOf(c: Context<SignedEnv>): string {
  return c.req.param('id') ?? ''; // never empty: the path has it
}

async function bodyOf<Kind extends RecordKind>(
  c: Context<SignedEnv>,
  kind: Kind,
): Promise<Registration<Kind>> {
  const { data } = await readJson(c.req.raw);
  // A client may send back what a view adds.
  const { shared: _, readOnly: __, ...record } = parse(Body, data, { what: `the ${kindNames[kind]}` });
  return record as Registration<Kind>; // the registry parses the rest
}

type Rows = Readonly<Record<string, SignedOperation>>;

function readOperations(kind: RecordKind): Rows {
  const base = `/v1/${collectionNames[kind]}` as const;
  const [one, many] = idNames[kind];
  const record = recordShape(kind);
  return {
    [`GET ${base}`]: {
      operationId: `list${many}`,
      summary: `List: ${kindNames[kind]}`,
      scope: 'registry:read',
      parameters: filterParameters,
      responses: { 200: json('A page of records', pageOf(record)) },
    },
    [`GET ${base}/:id`]: {
      operationId: `get${one}`,
      summary: `Read: ${kindNames[kind]}`,
      scope: 'registry:read',
      parameters: [tenantParameter],
      responses: { 200: json(recordText, record) },
      problems: [404],
    },
    [`GET ${base}/:id/history`]: {
      operationId: `get${one}History`,
      summary: `Changes, the last first: ${kindNames[kind]}`,
      scope: 'registry:read',
      parameters: [tenantParameter, ...pageParameters],
      responses: { 200: json('A page of changes', pageOf(named('HistoryEntry', shapeOf(HistoryEntry)))) },
      problems: [404],
    },
  };
}

function writeOperations(kind: RecordKind): Rows {
  const base = `/v1/${collectionNames[kind]}` as const;
  const [one] = idNames[kind];
  const name = kindNames[kind];
  const shown = json(recordText, recordShape(kind));
  const parameters = [tenantParameter];
  const change = { scope: 'registry:write', responses: { 200: shown }, parameters, problems: [404, 409] } as const;
  const versioned = {
    ...change,
    parameters: [tenantParameter, ifMatch(true)],
    problems: [404, 409, 412, 413, 415, 428],
  } as const;
  return {
    [`POST ${base}`]: {
      ...change,
      operationId: `register${one}`,
      summary: `Register: ${name}`,
      body: inputOf(kind),
      responses: { 201: shown },
      problems: [409, 413, 415],
    },
    [`PUT ${base}/:id`]: {
      ...versioned,
      operationId: `replace${one}`,
      summary: `Replace: ${name}`,
      body: inputOf(kind),
    },
    [`PATCH ${base}/:id`]: { ...versioned, operationId: `update${one}`, summary: `Change: ${name}`, body: mergePatch },
    [`DELETE ${base}/:id`]: {
      ...change,
      operationId: `remove${one}`,
      summary: `Remove, when nothing is bound: ${name}`,
      parameters: [tenantParameter, ifMatch(false)],
      responses: { 204: empty('Removed') },
      problems: [404, 409, 412],
    },
    [`POST ${base}/:id/disable`]: { ...change, operationId: `disable${one}`, summary: `Disable: ${name}` },
    [`POST ${base}/:id/enable`]: { ...change, operationId: `enable${one}`, summary: `Enable: ${name}` },
  };
}

const recordText = 'The record; its version is the ETag';
const mergePatch: Shape = () => ({ type: 'object', description: 'A merge patch (RFC 7396)' });

const HistoryEntry = v.object({
  revision: v.number(),
  at: Time,
  by: v.object({ type: v.picklist(['user', 'system']), id: v.string(), tenant: v.optional(v.string()) }),
  action: v.picklist(['register', 'update', 'disable', 'enable', 'remove', 'bind', 'unbind', 'import']),
  changes: v.array(v.object({ path: v.string(), from: v.optional(v.unknown()), to: v.optional(v.unknown()) })),
});

/** The names of each kind in operation ids: one record, and several. */
const idNames: Readonly<Record<RecordKind, readonly [one: string, many: string]>> = {
  agent: ['Agent', 'Agents'],
  tool: ['Tool', 'Tools'],
  mcpServer: ['McpServer', 'McpServers'],
  provider: ['Provider', 'Providers'],
  dataSource: ['DataSource', 'DataSources'],
};

/** A record as its author sends it: the registry chooses an id where it has none. */
function inputOf(kind: RecordKind): Shape {
  return () => {
    const record = jsonSchemaOf(recordSchemas[kind]);
    const required = (record['required'] as string[]).filter((field) => field !== 'id'); // every kind requires some
    return { ...record, required };
  };
}

function recordShape(kind: RecordKind): Shape {
  return named(idNames[kind][0], (components) => {
    const { properties, ...record } = jsonSchemaOf(recordSchemas[kind]);
    const added = {
      shared: { type: 'boolean', description: 'The deployment shares it with all tenants' },
      readOnly: { const: true, description: 'The caller may not write it' },
      ...(kind === 'agent' && { availableTools: { type: 'array', items: toolShape(components) } }),
    };
    return { ...record, properties: { ...properties as Json, ...added } }; // the schema of an object
  });
}

export const toolShape: Shape = named('ToolDefinition', shapeOf(recordSchemas.tool));

export function queryParameter(name: string, description: string, schema: Json = { type: 'string' }): Parameter {
  return { name, in: 'query', description, schema };
}

export const tenantParameter: Parameter = queryParameter(
  'tenant',
  'The tenant whose own records are meant, for a principal of the deployment; the shared ones when absent',
);

const pageParameters: readonly Parameter[] = [
  queryParameter('limit', '1 to 200', { type: 'integer', minimum: 1, maximum: 200, default: 50 }),
  queryParameter('pageToken', 'The nextPageToken of the page before; it serves the same query only'),
];

const filterParameters: readonly Parameter[] = [
  queryParameter('tags', 'All of these, separated by commas'),
  queryParameter('visibility', 'public, internal, hidden or disabled'),
  queryParameter('state', 'active or disabled'),
  queryParameter('type', 'The type of a tool, the kind of a provider or data source'),
  queryParameter('text', 'Part of the id, name, title, role, description or tags'),
  tenantParameter,
  ...pageParameters,
];

export function ifMatch(required: boolean): Parameter {
  const description = 'The ETag of the record that the caller has read';
  return { name: 'If-Match', in: 'header', required, description, schema: { type: 'string' } };
}

/** Returns the caller, and the tenant that a caller of the deployment names. @throws PinnaceError `forbidden` for another's tenant. */
export function accessOf(c: Context<SignedEnv>): Access & { readonly principal: Principal } {
  const access = { principal: c.var.principal, tenant: c.req.query('tenant') };
  ownerOf(access); // rejects a foreign tenant before anything is read
  return access;
}

export function writeOf(c: Context<SignedEnv>): WriteOptions {
  return { ...accessOf(c), traceId: c.var.trace.traceId };
}

/** Returns a record as the caller sees it: `shared` by the deployment or not, and `readOnly` where the caller may not write it. */
function viewOf<T extends { readonly tenant?: string | undefined }>(
  record: T,
  access: Access,
): T & { readonly shared: boolean; readonly readOnly?: true } {
  const shared = record.tenant === undefined;
  return { ...record, shared, ...(shared && ownerOf(access) !== undefined && { readOnly: true as const }) };
}

function etagOf({ revision }: { readonly revision: number }): { readonly etag: string } {
  return { etag: `"${revision}"` };
}

/** Returns the revision in `If-Match`; `undefined` without the header. @throws PinnaceError `invalid_argument`. */
function versionOf(c: Context): number | undefined {
  const given = c.req.header('if-match');
  if (given === undefined) return undefined;
  const revision = /^"(\d{1,15})"$/.exec(given)?.[1];
  if (revision !== undefined) return Number(revision);
  throw new PinnaceError(
    'invalid_argument',
    'Cannot read "If-Match": send the ETag of the record, like "3" in quotes',
    { details: { reason: 'invalid_if_match' } },
  );
}

/** Returns the revision in `If-Match`. @throws PinnaceError as `versionOf`, and `precondition_required` without the header. */
export function requireVersion(c: Context): number {
  const version = versionOf(c);
  if (version !== undefined) return version;
  throw new PinnaceError('precondition_required', 'Cannot change a record unseen: send its ETag as "If-Match"');
}

/** Returns the query of a list. Tags are separated by commas, or repeated. */
function listQueryOf(c: Context): RegistryQuery {
  const { tags: _, tenant: __, limit, ...rest } = c.req.query();
  if (Object.keys(rest).some((name) => !Object.hasOwn(RegistryQuery.entries, name))) throw unknownField();
  const tags = c.req.queries('tags')?.flatMap((tag) => tag.split(',')).filter((tag) => tag !== '') ?? [];
  return {
    ...rest as RegistryQuery, // the registry parses it
    ...(tags.length > 0 && { tags }),
    ...(limit !== undefined && { limit: Number(limit) }),
  };
}

/** Errors never repeat what a caller sends, so the unknown field is not named. */
function unknownField(): PinnaceError {
  const known = Object.keys(RegistryQuery.entries).join(', ');
  return new PinnaceError('invalid_argument', `Cannot read the query: it may have ${known}`, {
    details: { reason: 'unknown_query_field' },
  });
}

export function flagOf(c: Context, name: string): boolean {
  const given = c.req.query(name) ?? 'false';
  if (given === 'true' || given === 'false') return given === 'true';
  throw new PinnaceError('invalid_argument', `Cannot read "${name}": it is "true" or "false"`, {
    details: { reason: 'invalid_flag' },
  });
}
