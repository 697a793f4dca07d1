/** What the routes of a collection declare. */

import * as v from 'valibot';
import { jsonSchemaOf } from '../../../../src/base/json-schema-of.ts';
import { collectionNames, kindNames, type RecordKind, recordSchemas } from '../../../../src/registry/record-kinds.ts';
import {
  empty,
  type Json,
  json,
  named,
  type Operations,
  pageOf,
  type Parameter,
  type Shape,
  shapeOf,
  type SignedOperation,
} from '../operation.ts';
import { Time } from '../schemas.ts';

/** Returns the operations of one kind of record. */
export function collectionOperations(kind: RecordKind): Operations {
  return { ...readOperations(kind), ...writeOperations(kind) };
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

/** A record as responses show it. */
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

/** The definition of a tool, as an agent's `availableTools` have it. */
export const toolShape: Shape = named('ToolDefinition', shapeOf(recordSchemas.tool));

/** Describes a parameter of the query. */
export function queryParameter(name: string, description: string, schema: Json = { type: 'string' }): Parameter {
  return { name, in: 'query', description, schema };
}

/** `tenant`, of every route of the registry. */
export const tenantParameter: Parameter = queryParameter(
  'tenant',
  'The tenant whose own records are meant, for a principal of the deployment; the shared ones when absent',
);

/** The parameters of a page. */
const pageParameters: readonly Parameter[] = [
  queryParameter('limit', '1 to 200', { type: 'integer', minimum: 1, maximum: 200, default: 50 }),
  queryParameter('pageToken', 'The nextPageToken of the page before; it serves the same query only'),
];

/** The parameters of a list. */
const filterParameters: readonly Parameter[] = [
  queryParameter('tags', 'All of these, separated by commas'),
  queryParameter('visibility', 'public, internal, hidden or disabled'),
  queryParameter('state', 'active or disabled'),
  queryParameter('type', 'The type of a tool, the kind of a provider or data source'),
  queryParameter('text', 'Part of the id, name, title, role, description or tags'),
  tenantParameter,
  ...pageParameters,
];

/** `If-Match`. */
function ifMatch(required: boolean): Parameter {
  const description = 'The ETag of the record that the caller has read';
  return { name: 'If-Match', in: 'header', required, description, schema: { type: 'string' } };
}
