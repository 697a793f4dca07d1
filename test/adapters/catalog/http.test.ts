import { describe, expect, it } from 'vitest';
import { httpCatalog } from '../../../adapters/catalog/http.ts';
import { type FakeFetch, fakeFetch, json } from '../remote/fake-fetch.ts';
import { agent, mcpServer, provider, tool, tools } from '../../fixtures/records.ts';

const url = 'https://control.example/v1';
const token = 'control-token-42';

function controlPlane(records: Readonly<Record<string, unknown>>, revision: () => number): FakeFetch {
  return fakeFetch((request) => {
    const etag = `"r${revision()}"`;
    if (request.headers.get('if-none-match') === etag) return new Response(null, { status: 304 });
    const record = records[new URL(request.url).pathname];
    return record === undefined ? json({}, { status: 404 }) : json(record, { headers: { etag } });
  });
}

describe('httpCatalog', () => {
  it('returns agents, providers, tools and MCP servers as their schemas parse them', async () => {
    const { fetch, requests } = fakeFetch(({ url: asked }) => {
      if (asked.includes('/agents/')) return json(agent({ revision: 7 }));
      if (asked.includes('/mcp-servers/')) return json(mcpServer());
      return asked.includes('/providers/') ? json(provider()) : json(tool());
    });
    const catalog = httpCatalog({ url: `${url}/`, fetch });
    expect(await catalog.agent('helper')).toMatchObject({ id: 'helper', state: 'active', revision: 7 });
    expect(await catalog.provider('main')).toMatchObject({
      id: 'main',
      kind: 'rehearsal',
      state: 'active',
      revision: 1,
    });
    expect(await catalog.tool('add')).toMatchObject({ id: 'add', visibility: 'public' });
    expect(await catalog.mcpServer?.('files')).toMatchObject({ id: 'files', alias: 'files', status: 'pending' });
    expect(requests.map((request) => request.url)).toEqual([
      `${url}/agents/helper`,
      `${url}/providers/main`,
      `${url}/tools/add`,
      `${url}/mcp-servers/files`,
    ]);
  });

  it('names its origin and path as the source of its records', () => {
    expect(httpCatalog({ url: 'https://control.example.com:8443/v1/' }).source).toBe(
      'https://control.example.com:8443/v1',
    );
    expect(httpCatalog({ url: new URL('http://127.0.0.1:1'), privateOrigins: ['loopback'] }).source).toBe(
      'http://127.0.0.1:1',
    );
  });

  it('calls for the headers each time, follows no redirect, caches nothing and sends no cookies', async () => {
    const { fetch, requests } = fakeFetch(() => json(agent()));
    let made = 0;
    const catalog = httpCatalog({ url, fetch, headers: async () => ({ authorization: `Bearer ${++made}` }) });
    await catalog.agent('helper');
    await catalog.agent('helper');
    expect(requests.map(({ headers }) => headers.get('authorization'))).toEqual(['Bearer 1', 'Bearer 2']);
    expect(requests.map(({ headers }) => headers.get('accept'))).toEqual(['application/json', 'application/json']);
    expect(requests[0]).toMatchObject({ method: 'GET', redirect: 'error' });
    // Deno's requests do not say the rest.
    expect(['no-store', undefined]).toContain(requests[0]?.cache);
    expect(['omit', undefined]).toContain(requests[0]?.credentials);
  });

  it('encodes ids, so that none reaches another path', async () => {
    const { fetch, requests } = fakeFetch(() => json({}, { status: 404 }));
    const catalog = httpCatalog({ url, fetch });
    for (const id of ['a/../b', 'a?b#c', 'ä 漢', '%2e%2e']) expect(await catalog.agent(id)).toBeUndefined();
    expect(requests.map((request) => request.url.slice(url.length))).toEqual([
      '/agents/a%2F..%2Fb',
      '/agents/a%3Fb%23c',
      '/agents/%C3%A4%20%E6%BC%A2',
      '/agents/%252e%252e',
    ]);
  });

  it.each(['', '.', '..', '\ud800'])('has nothing under the id %j, which can be no part of a path', async (id) => {
    const { fetch, requests } = fakeFetch(() => json(agent()));
    const catalog = httpCatalog({ url, fetch });
    expect([await catalog.agent(id), await catalog.provider(id), await catalog.tool(id)]).toEqual(
      [undefined, undefined, undefined],
    );
    expect(requests).toEqual([]);
  });

  it.each(['', 'control', 'ftp://a/', `https://user:${token}@a/`, `https://a/?key=${token}`, `https://a/#${token}`])(
    'refuses the URL %j without repeating it',
    (bad) => {
      expect(() => httpCatalog({ url: bad })).toThrow(expect.objectContaining({ code: 'invalid_argument' }));
      expect(() => httpCatalog({ url: bad })).not.toThrow(new RegExp(token));
    },
  );
});

describe('what httpCatalog remembers', () => {
  it('is evicted with the record', async () => {
    const records: Record<string, unknown> = { '/v1/agents/helper': agent() };
    let revision = 1;
    const { fetch, requests } = controlPlane(records, () => revision++);
    const catalog = httpCatalog({ url, fetch });
    await catalog.agent('helper');
    delete records['/v1/agents/helper'];
    expect(await catalog.agent('helper')).toBeUndefined();
    expect(await catalog.agent('helper')).toBeUndefined();
    expect(requests.map(({ headers }) => headers.get('if-none-match'))).toEqual([null, '"r1"', null]);
  });
});

describe('the tools of httpCatalog', () => {
  it('are none where the control plane has none', async () => {
    for (const answer of [() => json([]), () => json({}, { status: 404 })]) {
      const { fetch } = fakeFetch(answer);
      expect(await httpCatalog({ url, fetch }).listTools({ limit: 10 })).toEqual([]);
    }
  });

  it.each([
    ['no array', { tools: [] }, 'not an array'],
    ['more than asked for', tools(4), 'more than 3'],
    ['one of them twice', [tool(), tool()], '"add" twice'],
    ['the last of the page before', [tool({ id: 'before' })], '"before" twice'],
    ['a bad one, by its id', [tool(), { ...tool({ id: 'broken' }), description: 1 }], 'tool "broken"'],
    ['a bad one, by its place', [tool(), { id: 'x'.repeat(200) }], 'tool 2 of the page'],
  ])('are refused when a page holds %s', async (_, page, said) => {
    const { fetch } = fakeFetch(() => json(page));
    const error: unknown = await httpCatalog({ url, fetch }).listTools({ after: 'before', limit: 3 }).catch((
      e: unknown,
    ) => e);
    expect(error).toMatchObject({ code: 'unavailable', retryable: false, details: { reason: 'catalog_invalid' } });
    expect(error).toHaveProperty('message', expect.stringContaining(said));
  });

  it('end with an error where the control plane does not look at "after"', async () => {
    const { fetch, requests } = fakeFetch(() => json(tools(100)));
    await expect(httpCatalog({ url, fetch }).listTools({ limit: 1000 })).rejects.toMatchObject({ code: 'unavailable' });
    expect(requests).toHaveLength(2);
  });
});
