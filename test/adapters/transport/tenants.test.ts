import { describe, expect, it } from 'vitest';
import {
  attacksOn,
  collections,
  endpointOfEverything,
  fillEndpoint,
  marker,
  methodAndPath,
  routesOf,
  scrapeToken,
  stateOf,
  stolen,
} from '../../fixtures/every-route.ts';
import { agent, provider } from '../../fixtures/records.ts';

const version = { 'if-match': '"1"' };

/** An endpoint with everything that it can serve, and two tenants with every scope. */
const endpoint = () =>
  endpointOfEverything({ a: { tenant: 'a', subject: 'subject-a' }, b: { tenant: 'b', subject: 'subject-b' } });

const filledEndpoint = async () => await fillEndpoint(await endpoint());

describe('every route of an endpoint', () => {
  it("shows a tenant nothing that is another's, and changes nothing of it", async () => {
    const filled = await filledEndpoint();
    const { as: { b }, mcp } = filled;
    const attacks = attacksOn(filled);
    const before = await stateOf(filled);
    expect(before).toContain(marker);
    expect(before).toContain('the data');
    const routes = await routesOf(filled);
    expect(routes.length).toBeGreaterThan(60);
    for (const route of routes) {
      const attack = attacks[route];
      if (!attack) throw new Error(`This test does not know how to call "${route}": add it to attacksOn`);
      const { status, text } = await b(...methodAndPath(route, attack), attack);
      expect(attack.statuses ?? [403, 404], `${route} answers ${status}: ${text}`).toContain(status);
      expect(text, route).not.toContain(marker);
      expect(await stateOf(filled), route).toBe(before);
    }
    expect(mcp.asked.connects).toBe(0);
  });

  it('shows a tenant nothing of another over the same ids, once it has records of its own', async () => {
    const filled = await filledEndpoint();
    const { b } = filled.as;
    for (const name of ['providers', 'data-sources', 'mcp-servers', 'tools', 'agents'] as const) {
      await b('POST', `/v1/${name}`, { body: stolen[name] });
    }
    const before = await stateOf(filled);
    const attacks = attacksOn(filled);
    for (const route of (await routesOf(filled)).filter((one) => !one.startsWith('DELETE'))) {
      const attack = attacks[route]!;
      const { text } = await b(...methodAndPath(route, attack), attack);
      expect(text, route).not.toContain(marker);
      expect(await stateOf(filled), route).toBe(before);
    }
  });

  it('names no tools and models of the endpoint in the metrics of a tenant', async () => {
    const { as: { b }, runtime } = await filledEndpoint();
    expect(runtime.metrics.text()).toMatch(/model="/);
    const { text } = await b('GET', '/v1/metrics');
    expect(text).toContain('pinnace_open_runs');
    expect(text).not.toMatch(/(?:tool|model)="/);
  });

  it('opens no route but that of the metrics with the token of Prometheus', async () => {
    const filled = await filledEndpoint();
    const before = await stateOf(filled);
    const attacks = attacksOn(filled);
    const open = ['healthz', 'readyz', 'openapi.json', 'metrics'].map((name) => `GET /v1/${name}`);
    open.push('GET /oauth/client.json');
    for (const route of (await routesOf(filled)).filter((one) => !open.includes(one))) {
      const attack = attacks[route]!;
      const headers = { ...attack.headers, authorization: `Bearer ${scrapeToken}` };
      const { status, text } = await filled.as.b(...methodAndPath(route, attack), { ...attack, headers });
      expect(status, route).toBe(401);
      expect(text, route).not.toContain(scrapeToken);
    }
    expect(await stateOf(filled)).toBe(before);
    const headers = { authorization: `Bearer ${scrapeToken}` };
    expect((await filled.as.b('GET', '/v1/metrics', { headers })).text).toMatch(/model="/);
  });

  it("lists only records that are shared or the tenant's own", async () => {
    const { b } = (await filledEndpoint()).as;
    const listed = await Promise.all(collections.map((name) => b('GET', `/v1/${name}?limit=200`)));
    const items = listed.flatMap(({ text }) =>
      (JSON.parse(text) as { items: { id: string; shared: boolean }[] }).items
    );
    expect(items.map(({ id, shared }) => [id, shared])).toEqual([['wipe', true], ['common', true]]);
  });
});

describe('a shared record over HTTP', () => {
  it('says that it is shared, and who may only read it', async () => {
    const { b } = (await endpoint()).as;
    const read = async (path: string): Promise<unknown> => JSON.parse((await b('GET', path)).text);
    expect(await read('/v1/providers/common')).toMatchObject({ shared: true, readOnly: true });
    const body = provider({ id: 'mine' });
    const made = await b('POST', '/v1/providers', { body });
    expect(JSON.parse(made.text)).toMatchObject({ shared: false, tenant: 'b' });
    const seen = await read('/v1/providers/mine');
    expect(seen).not.toHaveProperty('readOnly');
    // What was read may be sent back as it is.
    const replaced = await b('PUT', '/v1/providers/mine', { body: seen, headers: version });
    expect(replaced).toMatchObject({ status: 200 });
    const refused = await b('PATCH', '/v1/providers/common', { body: { version: '2.0.0' }, headers: version });
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('"shared_record"')]);
    const taken = await b('POST', '/v1/providers', { body: provider({ id: 'common' }) });
    expect([taken.status, taken.text]).toEqual([409, expect.stringContaining('"id_taken_by_shared"')]);
  });

  it('is refused to a tenant that names another in the query', async () => {
    const { b } = (await endpoint()).as;
    for (const path of ['/v1/agents?tenant=a', '/v1/agents/agent-of-a?tenant=a', '/v1/export?tenant=a']) {
      const { status, text } = await b('GET', path);
      expect([status, text], path).toEqual([403, expect.stringContaining('"foreign_tenant"')]);
    }
    expect(await b('GET', '/v1/agents?tenant=b')).toMatchObject({ status: 200 });
  });

  it('is listed in pages whose tokens serve no other filter', async () => {
    const { b } = (await endpoint()).as;
    for (const id of ['one', 'two']) {
      await b('POST', '/v1/agents', { body: agent({ id, providerId: 'common', tags: ['x'] }) });
    }
    const { text } = await b('GET', '/v1/agents?limit=1&tags=x');
    const { nextPageToken = '' } = JSON.parse(text) as { nextPageToken?: string };
    const statusOf = async (query: string): Promise<number> =>
      (await b('GET', `/v1/agents?${query}&pageToken=${nextPageToken}`)).status;
    expect(await statusOf('limit=1&tags=x')).toBe(200);
    for (const query of ['limit=1', 'tags=y', 'tags=x&state=active', 'tags=x&text=o', 'tags=x&visibility=public']) {
      expect(await statusOf(query), query).toBe(400);
    }
  });
});
