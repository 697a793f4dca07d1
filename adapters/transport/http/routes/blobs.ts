/** The routes of stored files: upload, read, delete. */

import * as v from 'valibot';
import { parse } from '../../../../src/base/parse.ts';
import { readBody } from '../../signed/body.ts';
import { empty, fileShape, json, named, type Operations, shapeOf } from '../operation.ts';
import type { Served } from '../served.ts';
import type { StoredFile as BlobFile } from '../../../../src/runtime/message-files.ts';

const StoredFile = v.object({ id: v.string(), url: v.string(), mediaType: v.string(), size: v.number() });

const FileQuery = v.strictObject({
  /** Another subject of the tenant; needs the scope `admin`. */
  subject: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(256))),
});

/** The operations of these routes. */
export const blobOperations = {
  'POST /v1/blobs': {
    operationId: 'uploadFile',
    hasLargeBody: true,
    summary: 'Store a file for messages to refer to',
    scope: 'run:create',
    bodyIsFile: true,
    responses: {
      201: json<BlobFile>(
        'The file, and the address that messages name it by',
        named('StoredFile', shapeOf(StoredFile)),
      ),
    },
    problems: [413],
  },
  'GET /v1/blobs/:id': {
    operationId: 'readFile',
    summary: 'Read a stored file',
    scope: 'run:read',
    query: FileQuery,
    responses: { 200: { description: 'The file', content: { '*/*': fileShape } } },
    problems: [404],
  },
  'DELETE /v1/blobs/:id': {
    operationId: 'deleteFile',
    summary: 'Delete a stored file',
    scope: 'admin',
    query: FileQuery,
    responses: { 204: empty('The file is deleted, or there was none') },
  },
} satisfies Operations;

/** Creates the routes under `/blobs`. */
export function blobRoutes({ runtime: { blobs }, serve: table }: Served): void {
  const serve = table(blobOperations);
  serve('POST /v1/blobs', async (c) => {
    const { principal, trace } = c.var;
    const bytes = await readBody(c.req.raw);
    const declared = c.req.header('content-type') ?? '';
    const file = await blobs.put(bytes, declared, principal, { trace, signal: c.req.raw.signal });
    return c.json(file, 201, { location: `/v1/blobs/${file.id}` });
  });
  serve('GET /v1/blobs/:id', async (c) => {
    const { principal, trace } = c.var;
    const call = { ...parse(FileQuery, c.req.query(), { what: 'the query' }), trace, signal: c.req.raw.signal };
    const { bytes, mediaType } = await blobs.get(c.req.param('id'), principal, call);
    return c.body(bytes, 200, { ...fileHeaders, 'content-type': mediaType });
  });
  serve('DELETE /v1/blobs/:id', async (c) => {
    const { principal, trace } = c.var;
    const { subject } = parse(FileQuery, c.req.query(), { what: 'the query' });
    await blobs.delete(c.req.param('id'), principal, { subject, trace });
    return c.body(null, 204);
  });
}

/** A file is the content of a stranger: no browser may run it as a page of this origin. */
const fileHeaders = {
  'cache-control': 'private, no-store',
  'content-disposition': 'attachment',
  'content-security-policy': "sandbox; default-src 'none'",
  'x-content-type-options': 'nosniff',
};
