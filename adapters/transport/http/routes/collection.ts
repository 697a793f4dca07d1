/** The routes of one kind of record in the registry: register, read, list, change, disable, remove, history. */

import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { parse } from '../../../../src/base/parse.ts';
import type { Collection, Registration } from '../../../../src/registry/collection.ts';
import { collectionNames, kindNames, type RecordKind } from '../../../../src/registry/record-kinds.ts';
import type { Signed } from '../authentication.ts';
import { readJson } from '../body.ts';
import type { SignedEnv } from '../env.ts';
import { collectionOperations } from './collection-operations.ts';
import { accessOf, etagOf, listQueryOf, requireVersion, versionOf, viewOf, writeOf } from './registry-request.ts';

/** A body before its kind's schema parses it: an object. */
const Body = v.looseObject({ id: v.optional(v.string()) });

/** What the routes need. */
export interface CollectionRoutesOptions {
  readonly signed: Signed;
}

/** Creates the routes; they are mounted at the path of the collection. */
export function collectionRoutes<Kind extends RecordKind>(
  kind: Kind,
  collection: Collection<Kind>,
  { signed }: CollectionRoutesOptions,
): Hono<SignedEnv> {
  const operations = collectionOperations(kind);
  const app = new Hono<SignedEnv>();
  app.get('/', signed(operations.list), async (c) => {
    const access = accessOf(c);
    const { items, ...page } = await collection.list(listQueryOf(c), access);
    return c.json({ items: items.map((record) => viewOf(record, access)), ...page });
  });
  app.post('/', signed(operations.register), async (c) => {
    const write = writeOf(c);
    const record = await collection.register(await bodyOf(c, kind), write);
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
    const record = await collection.replace(c.req.param('id'), await bodyOf(c, kind), write);
    return c.json(viewOf(record, write), 200, etagOf(record));
  });
  app.patch('/:id', signed(operations.update), async (c) => {
    const write = { ...writeOf(c), version: requireVersion(c) };
    const record = await collection.update(c.req.param('id'), await bodyOf(c, kind), write);
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
): Promise<Registration<Kind>> {
  const { data } = await readJson(c.req.raw);
  // A client may send back what a view adds.
  const { shared: _, readOnly: __, ...record } = parse(Body, data, { what: `the ${kindNames[kind]}` });
  return record as Registration<Kind>; // the registry parses the rest
}
