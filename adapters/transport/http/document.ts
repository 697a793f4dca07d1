/** Generates the OpenAPI 3.1 document of an endpoint from what its routes declare. */

import type { Hono } from 'hono';
import { jsonSchemaOf } from '../../../src/base/json-schema-of.ts';
import type { SignedEnv } from './env.ts';
import {
  type Answer,
  fileShape,
  type Json,
  named,
  type Operation,
  operationOf,
  type Shape,
  shapeOf,
  type SignedOperation,
} from './operation.ts';
import { Problem } from './schemas.ts';

type Components = Record<string, Json>;

/** Returns the document. Routes that declare nothing are left out. */
export function describeApp({ routes }: Pick<Hono<SignedEnv>, 'routes'>): Json {
  const schemas: Components = {};
  const paths: Record<string, Record<string, Json>> = {};
  for (const { path, method, handler } of routes) {
    const operation = operationOf(handler);
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

const problem: Answer = {
  description: 'A problem (RFC 9457)',
  content: { 'application/problem+json': named('Problem', shapeOf(Problem)) },
};

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
