/** Describes the routes of the registries in OpenAPI, from the schemas of the records. */

import { jsonSchemaOf } from '../../../../src/base/json-schema-of.ts';
import { CatalogDocument } from '../../../../src/registry/catalog-document.ts';
import {
  collectionNames,
  kindNames,
  type RecordKind,
  recordSchemas,
} from '../../../../src/tools/records/record-kinds.ts';
import { body, id, type Json, json, nothing, operation, problem } from './parts.ts';

const query = (name: string, description: string, schema: Json = { type: 'string' }): Json => ({
  name,
  in: 'query',
  description,
  schema,
});
const tenant = query('tenant', 'Whose own records, for a principal of the deployment; the shared ones when absent');
const page: readonly Json[] = [
  query('limit', '1 to 200', { type: 'integer', minimum: 1, maximum: 200, default: 50 }),
  query('pageToken', 'The nextPageToken of the page before; it serves the same query only'),
];
const filters: readonly Json[] = [
  query('tags', 'All of these, separated by commas'),
  query('visibility', 'public, internal, hidden or disabled'),
  query('state', 'active or disabled'),
  query('type', 'The type of a tool, the kind of a provider or data source'),
  query('text', 'Stands in id, name, title, role, description or tags'),
  tenant,
  ...page,
];
const ifMatch = (required: boolean): Json => ({
  name: 'If-Match',
  in: 'header',
  required,
  description: 'The ETag of the record as it was seen',
  schema: { type: 'string' },
});

/** Gives the paths. */
export function describeRegistry(): Json {
  const kinds = Object.keys(collectionNames) as RecordKind[]; // safe: its keys are the kinds
  return {
    ...Object.assign({}, ...kinds.map(describeCollection)) as Json, // safe: objects of paths
    '/v1/agents/{id}/tools': {
      get: operation('The tools that an agent can use now', { parameters: [id, tenant], responses: answers(200) }),
    },
    '/v1/export': { get: operation('All records of the caller', { parameters: [tenant], responses: answers(200) }) },
    '/v1/import': {
      post: operation('Take a catalogue in, of at most 16 MiB', {
        parameters: [tenant, query('dryRun', 'Only tell what would change', { type: 'boolean', default: false })],
        requestBody: body(CatalogDocument),
        responses: answers(200),
      }),
    },
  };
}

function describeCollection(kind: RecordKind): Json {
  const [name, path] = [kindNames[kind], `/v1/${collectionNames[kind]}`];
  const record = jsonSchemaOf(recordSchemas[kind]);
  const required = (record['required'] as string[]).filter((field) => field !== 'id'); // safe: every kind requires some
  const content = { 'application/json': { schema: { ...record, required } } };
  const patch = { 'application/json': { schema: { type: 'object', description: 'A merge patch (RFC 7396)' } } };
  return {
    [path]: {
      get: operation(`List: ${name}`, { parameters: filters, responses: answers(200) }),
      post: operation(`Register: ${name}`, {
        parameters: [tenant],
        requestBody: { required: true, content },
        responses: answers(201, 409),
      }),
    },
    [`${path}/{id}`]: {
      get: operation(`Read: ${name}`, { parameters: [id, tenant], responses: answers(200, 404) }),
      put: operation(`Replace: ${name}`, {
        parameters: [id, tenant, ifMatch(true)],
        requestBody: { required: true, content },
        responses: answers(200, 404, 412, 428),
      }),
      patch: operation(`Change: ${name}`, {
        parameters: [id, tenant, ifMatch(true)],
        requestBody: { required: true, content: patch },
        responses: answers(200, 404, 412, 428),
      }),
      delete: operation(`Remove, when nothing is bound: ${name}`, {
        parameters: [id, tenant, ifMatch(false)],
        responses: { 204: nothing, 409: problem, default: problem },
      }),
    },
    [`${path}/{id}/disable`]: {
      post: operation(`Take out of service: ${name}`, { parameters: [id, tenant], responses: answers(200, 404) }),
    },
    [`${path}/{id}/enable`]: {
      post: operation(`Take into service: ${name}`, { parameters: [id, tenant], responses: answers(200, 404) }),
    },
    [`${path}/{id}/history`]: {
      get: operation(`What was done, the last first: ${name}`, {
        parameters: [id, tenant, ...page],
        responses: answers(200, 404),
      }),
    },
  };
}

function answers(status: number, ...problems: readonly number[]): Json {
  return { [status]: json, ...Object.fromEntries(problems.map((one) => [one, problem])), default: problem };
}
