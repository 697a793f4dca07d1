/** The routes of the registries: register, read, list, change, retire; and a whole catalogue, out and in. */

import type { Context } from 'hono';
import * as v from 'valibot';
import { PinnaceError } from '../../../src/base/errors.ts';
import type { Collection, Registration } from '../../../src/registry/collection.ts';
import { RegistryQuery } from '../../../src/registry/list.ts';
import { type Access, ownerOf } from '../../../src/registry/owner.ts';
import type { Registry } from '../../../src/registry/registry.ts';
import type { WriteOptions } from '../../../src/registry/write.ts';
import { parse } from '../../../src/base/parse.ts';
import { collectionNames, kindNames, type RecordKind } from '../../../src/tools/records/record-kinds.ts';
import { type Principal, requireScope, type Scope } from '../../../src/base/principal.ts';
import { bodyLimitOf } from './body-limits.ts';
import type { HandlerContext } from './handler.ts';
import type { Manifest } from '../../../src/runtime/runtime.ts';
import { readJson } from './body.ts';
import { traceOf } from './trace.ts';

/** What a body holds before its schema is asked: an object. */
const Body = v.looseObject({ id: v.optional(v.string()) });

type RegistryContext = Pick<HandlerContext, 'app' | 'authenticator' | 'maxBodyBytes' | 'runtime'>;

/** Adds the routes. Reading takes the scope `registry:read`, writing `registry:write`. */
export function addRegistryRoutes(context: RegistryContext, registry: Registry): void {
  const { app } = context;
  addCollection(context, 'agent', registry.agents);
  addCollection(context, 'tool', registry.tools);
  addCollection(context, 'mcpServer', registry.mcpServers);
  addCollection(context, 'provider', registry.providers);
  addCollection(context, 'dataSource', registry.dataSources);
  app.get('/v1/agents/:id/tools', async (c) => {
    const access = await accessOf(context, c, 'registry:read');
    const id = c.req.param('id');
    const bound = await registry.availableTools(id, access);
    const { tools } = await context.runtime.manifest(id, access.principal).catch(noManifest);
    const reasons = new Map(tools.flatMap((tool) => tool.excluded ? [[tool.id, tool.excluded] as const] : []));
    return c.json({
      items: bound.filter((tool) => !reasons.has(tool.id)),
      excluded: bound.flatMap((tool) => reasons.has(tool.id) ? [{ id: tool.id, reason: reasons.get(tool.id) }] : []),
    });
  });
  app.get('/v1/export', async (c) => {
    const access = await accessOf(context, c, 'registry:read');
    return c.json(await registry.export(access), 200, { 'content-disposition': 'attachment; filename="catalog.json"' });
  });
  app.post('/v1/import', async (c) => {
    const given = await writing(context, c);
    const { data } = await readJson(c.req.raw, bodyLimitOf(c.req.raw));
    return c.json(await registry.import(data, { ...given, dryRun: flagOf(c, 'dryRun') }));
  });
}

/** An agent that this runtime cannot run for the caller, as that of a tenant which the deployment names: the registry alone answers. */
function noManifest(error: unknown): Pick<Manifest, 'tools'> {
  if (error instanceof PinnaceError && (error.code === 'not_found' || error.code === 'forbidden')) return { tools: [] };
  throw error;
}

function addCollection<Kind extends RecordKind>(
  context: RegistryContext,
  kind: Kind,
  collection: Collection<Kind>,
): void {
  const { app } = context;
  const path = `/v1/${collectionNames[kind]}`;
  app.post(path, async (c) => {
    const given = await writing(context, c);
    const record = await collection.register(await bodyOf(context, c, kind), given);
    return c.json(viewOf(record, given), 201, {
      ...etagOf(record),
      location: `${path}/${encodeURIComponent(record.id)}`,
    });
  });
  app.get(path, async (c) => {
    const access = await accessOf(context, c, 'registry:read');
    const { items, ...page } = await collection.list(queryOf(c), access);
    return c.json({ items: items.map((record) => viewOf(record, access)), ...page });
  });
  app.get(`${path}/:id`, async (c) => {
    const access = await accessOf(context, c, 'registry:read');
    const record = await collection.get(idOf(c), access);
    return c.json(viewOf(record, access), 200, etagOf(record));
  });
  app.put(`${path}/:id`, async (c) => {
    const given = { ...await writing(context, c), version: requireVersion(c) };
    const record = await collection.replace(idOf(c), await bodyOf(context, c, kind), given);
    return c.json(viewOf(record, given), 200, etagOf(record));
  });
  app.patch(`${path}/:id`, async (c) => {
    const given = { ...await writing(context, c), version: requireVersion(c) };
    const record = await collection.update(idOf(c), await bodyOf(context, c, kind), given);
    return c.json(viewOf(record, given), 200, etagOf(record));
  });
  for (const change of ['disable', 'enable'] as const) {
    app.post(`${path}/:id/${change}`, async (c) => {
      const given = await writing(context, c);
      const record = await collection[change](idOf(c), given);
      return c.json(viewOf(record, given), 200, etagOf(record));
    });
  }
  app.delete(`${path}/:id`, async (c) => {
    const version = versionOf(c);
    await collection.remove(idOf(c), { ...await writing(context, c), ...(version !== undefined && { version }) });
    return c.body(null, 204);
  });
  app.get(`${path}/:id/history`, async (c) => {
    const access = await accessOf(context, c, 'registry:read');
    const { limit, pageToken } = queryOf(c);
    return c.json(await collection.history(idOf(c), { ...access, pageToken, ...(limit !== undefined && { limit }) }));
  });
}

/** The caller, and the tenant that a caller of the deployment names. */
async function accessOf(
  { authenticator }: RegistryContext,
  c: Context,
  scope: Scope,
): Promise<Access & { readonly principal: Principal }> {
  const principal = await authenticator.authenticate(c.req.raw);
  requireScope(principal, scope);
  const access = { principal, tenant: c.req.query('tenant') };
  ownerOf(access); // refuses a tenant that names another before anything is read
  return access;
}

/** Who writes, and in which trace. */
async function writing(context: RegistryContext, c: Context): Promise<WriteOptions> {
  const access = await accessOf(context, c, 'registry:write');
  return { ...access, traceId: traceOf(c.req.raw).traceId };
}

async function bodyOf<Kind extends RecordKind>(
  { maxBodyBytes }: RegistryContext,
  c: Context,
  kind: Kind,
): Promise<Registration<Kind>> {
  const { data } = await readJson(c.req.raw, maxBodyBytes);
  // What a view adds may come back with the record.
  const { shared: _, readOnly: __, ...record } = parse(Body, data, { what: `the ${kindNames[kind]}` });
  return record as Registration<Kind>; // the registry reads the rest
}

/** A record as the caller sees it: whether the deployment shares it, and `readOnly` where the caller may not write it. */
function viewOf<T extends { readonly tenant?: string | undefined }>(record: T, access: Access) {
  const shared = record.tenant === undefined;
  return { ...record, shared, ...(shared && ownerOf(access) !== undefined && { readOnly: true as const }) };
}

function idOf(c: Context): string {
  return c.req.param('id') ?? '';
}

function etagOf({ revision }: { readonly revision: number }): { readonly etag: string } {
  return { etag: `"${revision}"` };
}

/** The revision that `If-Match` names; `undefined` without the header. */
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

function requireVersion(c: Context): number {
  const version = versionOf(c);
  if (version !== undefined) return version;
  throw new PinnaceError('precondition_required', 'Cannot change a record unseen: send its ETag as "If-Match"', {
    status: 428,
  });
}

/** The query of a list. Tags are separated by commas, or come one by one. */
function queryOf(c: Context): RegistryQuery {
  const { tags: _, tenant: __, limit, ...rest } = c.req.query();
  if (Object.keys(rest).some((name) => !Object.hasOwn(RegistryQuery.entries, name))) throw unknownField();
  const tags = c.req.queries('tags')?.flatMap((tag) => tag.split(',')).filter((tag) => tag !== '') ?? [];
  return {
    ...rest as RegistryQuery, // the registry reads it
    ...(tags.length > 0 && { tags }),
    ...(limit !== undefined && { limit: Number(limit) }),
  };
}

/** What a caller sends is not repeated, names of fields neither. */
function unknownField(): PinnaceError {
  const known = Object.keys(RegistryQuery.entries).join(', ');
  return new PinnaceError('invalid_argument', `Cannot read the query: it may have ${known}`, {
    details: { reason: 'unknown_query_field' },
  });
}

function flagOf(c: Context, name: string): boolean {
  const given = c.req.query(name) ?? 'false';
  if (given === 'true' || given === 'false') return given === 'true';
  throw new PinnaceError('invalid_argument', `Cannot read "${name}": it is "true" or "false"`, {
    details: { reason: 'invalid_flag' },
  });
}
