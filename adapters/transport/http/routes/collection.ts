/** The routes of one kind of record in the registry: register, read, list, change, disable, remove, history. */

import type { Context } from 'hono';
import * as v from 'valibot';
import { parse } from '../../../../src/base/parse.ts';
import type { Collection, Registration } from '../../../../src/registry/collection.ts';
import { collectionNames, kindNames, type RecordKind } from '../../../../src/registry/record-kinds.ts';
import { readJson } from '../body.ts';
import type { SignedEnv } from '../env.ts';
import { collectionOperations } from './collection-operations.ts';
import { accessOf, etagOf, listQueryOf, requireVersion, versionOf, viewOf, writeOf } from './registry-request.ts';
import type { Served } from '../served.ts';

/** A body before its kind's schema parses it: an object. */
const Body = v.looseObject({ id: v.optional(v.string()) });

/** Creates the routes at the path of the collection. */
export function collectionRoutes<Kind extends RecordKind>(
  endpoint: Served,
  kind: Kind,
  collection: Collection<Kind>,
): void {
  const base = `/v1/${collectionNames[kind]}` as const;
  const serve = endpoint.serve(collectionOperations(kind));
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
