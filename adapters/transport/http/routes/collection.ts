/** The routes of one kind of record in the registry: register, read, list, change, disable, remove, history. */

import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { jsonSchemaOf } from '../../../../src/base/json-schema-of.ts';
import { parse } from '../../../../src/base/parse.ts';
import type { Collection, Registration } from '../../../../src/registry/collection.ts';
import {
  collectionNames,
  kindNames,
  type RecordKind,
  recordSchemas,
} from '../../../../src/tools/records/record-kinds.ts';
import type { Signed } from '../authentication.ts';
import { readJson } from '../body.ts';
import type { SignedEnv } from '../env.ts';
import { empty, type Json, json, named, pageOf, type Shape, shapeOf, type SignedOperation } from '../operation.ts';
import {
  accessOf,
  etagOf,
  filterParameters,
  ifMatch,
  listQueryOf,
  pageParameters,
  requireVersion,
  tenantParameter,
  versionOf,
  viewOf,
  writeOf,
} from './registry-request.ts';
import { Time } from '../schemas.ts';

/** A body before its kind's schema parses it: an object. */
const Body = v.looseObject({ id: v.optional(v.string()) });

const HistoryEntry = v.object({
  revision: v.number(),
  at: Time,
  by: v.object({ type: v.picklist(['user', 'system']), id: v.string(), tenant: v.optional(v.string()) }),
  action: v.picklist(['register', 'update', 'disable', 'enable', 'remove', 'bind', 'unbind', 'import']),
  changes: v.array(v.object({ path: v.string(), from: v.optional(v.unknown()), to: v.optional(v.unknown()) })),
});

/** What the routes need. */
export interface CollectionRoutesOptions {
  readonly signed: Signed;
  readonly maxBodyBytes: number;
}

/** Creates the routes; they are mounted at the path of the collection. */
export function collectionRoutes<Kind extends RecordKind>(
  kind: Kind,
  collection: Collection<Kind>,
  { signed, maxBodyBytes }: CollectionRoutesOptions,
): Hono<SignedEnv> {
  const operations = declarations(kind);
  const app = new Hono<SignedEnv>();
  app.get('/', signed(operations.list), async (c) => {
    const access = accessOf(c);
    const { items, ...page } = await collection.list(listQueryOf(c), access);
    return c.json({ items: items.map((record) => viewOf(record, access)), ...page });
  });
  app.post('/', signed(operations.register), async (c) => {
    const write = writeOf(c);
    const record = await collection.register(await bodyOf(c, kind, maxBodyBytes), write);
    const location = `/v1/${collectionNames[kind]}/${encodeURIComponent(record.id)}`;
    return c.json(viewOf(record, write), 201, { ...etagOf(record), location });
  });
  app.get('/:id', signed(operations.get), async (c) => {
    const access = accessOf(c);
    const record = await collection.get(c.req.param('id'), access);
    return c.json(viewOf(record, access), 200, etagOf(record));
  });
  app.put('/:id', signed(operations.replace), async (c) => {
    const write = { ...writeOf(c), version: requireVersion(c) };
    const record = await collection.replace(c.req.param('id'), await bodyOf(c, kind, maxBodyBytes), write);
    return c.json(viewOf(record, write), 200, etagOf(record));
  });
  app.patch('/:id', signed(operations.update), async (c) => {
    const write = { ...writeOf(c), version: requireVersion(c) };
    const record = await collection.update(c.req.param('id'), await bodyOf(c, kind, maxBodyBytes), write);
    return c.json(viewOf(record, write), 200, etagOf(record));
  });
  app.delete('/:id', signed(operations.remove), async (c) => {
    const version = versionOf(c);
    await collection.remove(c.req.param('id'), { ...writeOf(c), ...(version !== undefined && { version }) });
    return c.body(null, 204);
  });
  for (const change of ['disable', 'enable'] as const) {
    app.post(`/:id/${change}`, signed(operations[change]), async (c) => {
      const write = writeOf(c);
      const record = await collection[change](c.req.param('id'), write);
      return c.json(viewOf(record, write), 200, etagOf(record));
    });
  }
  app.get('/:id/history', signed(operations.history), async (c) => {
    const access = accessOf(c);
    const { limit, pageToken } = listQueryOf(c);
    const page = { pageToken, ...(limit !== undefined && { limit }) };
    return c.json(await collection.history(c.req.param('id'), { ...access, ...page }));
  });
  return app;
}

async function bodyOf<Kind extends RecordKind>(
  c: Context<SignedEnv>,
  kind: Kind,
  maxBytes: number,
): Promise<Registration<Kind>> {
  const { data } = await readJson(c.req.raw, maxBytes);
  // A client may send back what a view adds.
  const { shared: _, readOnly: __, ...record } = parse(Body, data, { what: `the ${kindNames[kind]}` });
  return record as Registration<Kind>; // the registry parses the rest
}

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

/** A record as responses show it. */
export function recordShape(kind: RecordKind): Shape {
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

/** The definition of a tool, as an agent's `availableTools` have it. */
export const toolShape: Shape = named('ToolDefinition', shapeOf(recordSchemas.tool));

type CollectionOperation =
  | 'list'
  | 'register'
  | 'get'
  | 'replace'
  | 'update'
  | 'remove'
  | 'disable'
  | 'enable'
  | 'history';

function declarations(kind: RecordKind): Readonly<Record<CollectionOperation, SignedOperation>> {
  const [one, many] = idNames[kind];
  const name = kindNames[kind];
  const record = recordShape(kind);
  const shown = json('The record; its version is the ETag', record);
  const read = { scope: 'registry:read', problems: [404] } as const;
  const change = { scope: 'registry:write', responses: { 200: shown }, parameters: [tenantParameter] } as const;
  const versioned = {
    ...change,
    parameters: [tenantParameter, ifMatch(true)],
    problems: [404, 409, 412, 413, 415, 428],
  } as const;
  return {
    list: {
      operationId: `list${many}`,
      summary: `List: ${name}`,
      scope: 'registry:read',
      parameters: filterParameters,
      responses: { 200: json('A page of records', pageOf(record)) },
    },
    register: {
      ...change,
      operationId: `register${one}`,
      summary: `Register: ${name}`,
      body: inputOf(kind),
      responses: { 201: shown },
      problems: [409, 413, 415],
    },
    get: {
      ...read,
      operationId: `get${one}`,
      summary: `Read: ${name}`,
      parameters: [tenantParameter],
      responses: { 200: shown },
    },
    replace: { ...versioned, operationId: `replace${one}`, summary: `Replace: ${name}`, body: inputOf(kind) },
    update: {
      ...versioned,
      operationId: `update${one}`,
      summary: `Change: ${name}`,
      body: () => ({ type: 'object', description: 'A merge patch (RFC 7396)' }),
    },
    remove: {
      ...change,
      operationId: `remove${one}`,
      summary: `Remove, when nothing is bound: ${name}`,
      parameters: [tenantParameter, ifMatch(false)],
      responses: { 204: empty('Removed') },
      problems: [404, 409, 412],
    },
    disable: { ...change, operationId: `disable${one}`, summary: `Disable: ${name}`, problems: [404, 409] },
    enable: { ...change, operationId: `enable${one}`, summary: `Enable: ${name}`, problems: [404, 409] },
    history: {
      ...read,
      operationId: `get${one}History`,
      summary: `Changes, the last first: ${name}`,
      parameters: [tenantParameter, ...pageParameters],
      responses: { 200: json('A page of changes', pageOf(named('HistoryEntry', shapeOf(HistoryEntry)))) },
    },
  };
}
