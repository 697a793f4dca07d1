/** Who reaches what, on every route: the owner, others of its tenant, administrators, another tenant. */

import { describe, expect, it } from 'vitest';
import { scopes } from '../../../src/base/principal.ts';
import type { Authorize } from '../../../src/index.ts';
import {
  attacksOn,
  type Caller,
  endpointOfEverything,
  fillEndpoint,
  marker,
  methodAndPath,
  routesOf,
  stateOf,
} from '../../fixtures/every-route.ts';

const usual = scopes.filter((scope) => scope !== 'admin');

/** Who calls, in the order of the table. */
const callers = {
  owner: { tenant: 'a', subject: 'ada', scopes: usual },
  /** Of the same tenant, with the same scopes. */
  other: { tenant: 'a', subject: 'bo', scopes: usual },
  /** Named as one who may decide on the call that waits. */
  approver: { tenant: 'a', subject: 'cy', scopes: usual },
  admin: { tenant: 'a', subject: 'root', scopes },
  /** Of another tenant, with the name of the owner and every scope. */
  stranger: { tenant: 'b', subject: 'ada', scopes },
  /** The owner, by a credential that may run another agent only. */
  unable: { tenant: 'a', subject: 'ada', scopes: usual, agents: ['another-agent'] },
} satisfies Record<string, Caller>;

type Name = keyof typeof callers;
const names = Object.keys(callers) as readonly Name[]; // safe: its own keys

type Row = readonly [owner: number, other: number, approver: number, admin: number, stranger: number, unable: number];

/** What each route answers to each caller. */
const matrix: Readonly<Record<string, Row>> = {
  // What belongs to a person.
  'POST /v1/runs': [422, 200, 200, 200, 404, 403], // the key of the owner: others start runs of their own
  'GET /v1/runs/{id}': [200, 404, 404, 200, 404, 404],
  'DELETE /v1/runs/{id}': [202, 404, 404, 202, 404, 404],
  'GET /v1/runs/{id}/stream': [200, 404, 404, 200, 404, 404],
  'POST /v1/runs/{id}/messages': [409, 404, 404, 409, 404, 404], // the run has ended
  'POST /v1/runs/{id}/approvals/{approvalId}': [204, 404, 204, 204, 404, 404],
  'POST /v1/runs/{id}/interruptions/{interruptionId}': [404, 404, 404, 404, 404, 404], // it asks for an approval
  'POST /v1/runs/{id}/replies': [404, 404, 404, 404, 404, 404], // it has no plan
  // Everyone lists what is theirs; an item is the owner's, the approver's and the administrator's.
  'GET /v1/inbox': [200, 200, 200, 200, 200, 200],
  'GET /v1/inbox/stream': [200, 200, 200, 200, 200, 200],
  'GET /v1/inbox/{id}': [200, 404, 200, 200, 404, 404],
  'POST /v1/inbox/decisions': [200, 200, 200, 200, 200, 200], // the results say what became of each
  'POST /v1/runs/{id}/forks': [200, 404, 404, 200, 404, 404],
  'GET /v1/runs/{id}/forks': [200, 404, 404, 200, 404, 404],
  'GET /v1/runs/{id}/undo': [200, 404, 404, 200, 404, 404],
  'POST /v1/runs/{id}/undo': [409, 404, 404, 409, 404, 404], // another digest than that of the preview
  'POST /v1/agents/{id}/chat': [200, 404, 200, 200, 404, 403],
  'GET /v1/agents/{id}/chat/{chatId}/stream': [204, 204, 204, 204, 204, 404],
  // Who is named decides; nobody goes on in the chat of another.
  'POST /v1/agents/{id}/agui': [200, 404, 400, 400, 404, 403],
  'GET /v1/chats': [200, 403, 403, 200, 200, 200],
  'GET /v1/chats/{id}': [200, 403, 403, 200, 404, 404],
  'PATCH /v1/chats/{id}': [200, 403, 403, 200, 404, 404],
  'DELETE /v1/chats/{id}': [200, 403, 403, 200, 200, 200],
  'POST /v1/chats/import': [409, 403, 403, 409, 200, 404], // the owner has another chat by this id
  'GET /v1/chats/{id}/stream': [204, 204, 204, 204, 204, 404],
  'POST /v1/blobs': [201, 201, 201, 201, 201, 201],
  'GET /v1/blobs/{id}': [200, 404, 404, 404, 404, 200],
  'DELETE /v1/blobs/{id}': [403, 403, 403, 204, 204, 403],
  'GET /v1/plans/{id}': [200, 404, 404, 200, 404, 200],
  'POST /v1/plans/{id}/pause': [202, 404, 404, 202, 404, 202],
  'POST /v1/plans/{id}/resume': [202, 404, 404, 202, 404, 202],
  'POST /v1/plans/{id}/cancel': [202, 404, 404, 202, 404, 202],
  'DELETE /v1/subjects/{subject}': [403, 403, 403, 200, 200, 403],
  'POST /v1/mcp-servers/{id}/sign-in': [409, 409, 409, 409, 404, 409],
  'GET /v1/mcp-servers/{id}/grant': [200, 200, 200, 200, 404, 200],
  'DELETE /v1/mcp-servers/{id}/grant': [204, 204, 204, 204, 404, 204],
  'POST /v1/mcp-sign-ins': [404, 404, 404, 404, 404, 404],
  'GET /v1/schedules': [200, 403, 403, 200, 200, 200],
  'POST /v1/schedules': [201, 201, 201, 201, 404, 403],
  'GET /v1/schedules/{id}': [200, 404, 404, 200, 404, 404],
  'PATCH /v1/schedules/{id}': [200, 404, 404, 403, 404, 404], // it acts with the rights of its owner
  'DELETE /v1/schedules/{id}': [204, 404, 404, 204, 404, 404],
  'POST /v1/schedules/{id}/pause': [200, 404, 404, 200, 404, 404],
  'POST /v1/schedules/{id}/resume': [200, 404, 404, 403, 404, 404],
  'POST /v1/schedules/{id}/run': [202, 404, 404, 403, 404, 404],
  'POST /v1/hooks/{id}': [401, 401, 401, 401, 401, 401], // a signature alone opens it
  'GET /v1/schedules/{id}/fires': [200, 404, 404, 200, 404, 404],
  'GET /v1/budgets': [200, 200, 200, 200, 200, 200], // each its own
  // What belongs to the tenant.
  'GET /v1/agents/{id}/manifest': [200, 200, 200, 200, 404, 403],
  'GET /v1/agents/{id}/tools': [200, 200, 200, 200, 404, 200],
  'GET /v1/agents/{id}/prompts': [200, 200, 200, 200, 404, 403],
  'POST /v1/agents/{id}/prompts/get': [404, 404, 404, 404, 404, 403],
  'POST /v1/agents/{id}/prompts/complete': [404, 404, 404, 404, 404, 403],
  'GET /v1/agents/{id}/resources': [200, 200, 200, 200, 404, 403],
  'POST /v1/agents/{id}/resources/read': [404, 404, 404, 404, 404, 403],
  'POST /v1/agents/{id}/apps/read': [404, 404, 404, 404, 404, 403],
  'POST /v1/agents/{id}/apps/call': [404, 404, 404, 404, 404, 403],
  'POST /v1/mcp-servers/{id}/validate': [503, 503, 503, 503, 404, 503], // the server does not exist
  'POST /v1/grounding/{source}/retrieve': [200, 200, 200, 200, 200, 200],
  'POST /v1/data-sources/{id}/ingest': [200, 200, 200, 200, 200, 200],
  'GET /v1/export': [200, 200, 200, 200, 200, 200],
  'POST /v1/import': [200, 200, 200, 200, 200, 200],
  'POST /v1/invalidations': [204, 204, 204, 204, 204, 204],
  'POST /v1/prewarm': [200, 200, 200, 200, 200, 200],
  ...rowsOf('agents', 409), // 409: another record names it
  ...rowsOf('tools', 409),
  ...rowsOf('providers', 409),
  ...rowsOf('mcp-servers', 204),
  ...rowsOf('data-sources', 204),
  // What administrators read, and what everyone does.
  'GET /v1/events': [403, 403, 403, 200, 200, 403],
  'GET /v1/audit': [403, 403, 403, 200, 200, 403],
  'GET /v1/audit/verification': [403, 403, 403, 200, 200, 403],
  'GET /v1/metrics': [403, 403, 403, 200, 200, 403],
  'GET /v1/healthz': [200, 200, 200, 200, 200, 200],
  'GET /v1/readyz': [200, 200, 200, 200, 200, 200],
  'GET /v1/openapi.json': [200, 200, 200, 200, 200, 200],
  'GET /oauth/client.json': [200, 200, 200, 200, 200, 200],
};

/** The rows of a collection of the registry. */
function rowsOf(name: string, removed: number): Readonly<Record<string, Row>> {
  const one: Row = [200, 200, 200, 200, 404, 200];
  const [path, record] = [`/v1/${name}`, `/v1/${name}/{id}`];
  return {
    [`GET ${path}`]: [200, 200, 200, 200, 200, 200],
    [`POST ${path}`]: [409, 409, 409, 409, 201, 409], // the tenant has one of this id
    [`GET ${record}`]: one,
    [`PUT ${record}`]: one,
    [`PATCH ${record}`]: one,
    [`DELETE ${record}`]: [removed, removed, removed, removed, 404, removed],
    [`POST ${record}/disable`]: one,
    [`POST ${record}/enable`]: one,
    [`GET ${record}/history`]: one,
  };
}

/** Routes whose answers may show to everyone of a tenant what is in its registry and its data sources. */
const isOfTenant = (route: string): boolean =>
  /^\S+ \/v1\/(?:agents|tools|providers|mcp-servers|data-sources|grounding|export|import)\b/.test(route) &&
  !/\{id\}\/(?:chat|agui)/.test(route);

/** Whose call changes something for the owner, as it should. */
const mayChange = (route: string, name: Name): boolean =>
  name === 'owner' || name === 'admin' || isOfTenant(route) ||
  (name === 'approver' && /approvals|inbox|chat$|agui$/.test(route)) ||
  (name === 'unable' && /plans|blobs/.test(route)); // no agent is named in them

const approvedBy: Authorize = (action, _, { id }) =>
  action === 'tool.call' && id === 'wipe'
    ? { decision: 'ask', reason: 'It wipes', approvers: ['subject:ada', 'subject:cy'] }
    : { decision: 'allow' };

const endpoint = async () =>
  await fillEndpoint(await endpointOfEverything(callers, { authorize: approvedBy, keep: 'inputs' }));

type Endpoint = Awaited<ReturnType<typeof endpoint>>;

async function callAs(filled: Endpoint, name: Name, route: string) {
  const attack = attacksOn(filled)[route];
  if (!attack) throw new Error(`attacksOn does not know how to call "${route}"`);
  return await filled.as[name](...methodAndPath(route, attack), attack);
}

describe('every route of an endpoint', () => {
  it('has a row in the table', async () => {
    expect(Object.keys(matrix).toSorted()).toEqual((await routesOf(await endpoint())).toSorted());
  });

  it.each(names)('answers %s as the table says, and shows and changes nothing else', async (name) => {
    let filled = await endpoint();
    let before: string | undefined;
    for (const route of Object.keys(matrix)) {
      if (!mayChange(route, name)) before ??= await stateOf(filled);
      const { status, text } = await callAs(filled, name, route);
      expect(status, `${route}: ${text}`).toBe(matrix[route]?.[names.indexOf(name)]);
      const isForeign = ['other', 'approver', 'stranger'].includes(name);
      const isShown = name === 'approver' && route === 'GET /v1/inbox/{id}'; // who decides sees the input
      if (name === 'stranger' || (isForeign && !isOfTenant(route) && !isShown)) {
        expect(text, route).not.toContain(marker);
      }
      if (!mayChange(route, name)) expect(await stateOf(filled), route).toBe(before);
      else if (!route.startsWith('GET') && ![401, 403, 404].includes(status)) {
        filled = await endpoint();
        before = undefined;
      }
    }
  });

  it('is as silent about what is another person’s as about what does not exist', async () => {
    const filled = await endpoint();
    const { runId, approvalId, planId, blobId, scheduleId } = filled.ids;
    const known: Readonly<Record<string, string>> = {
      [runId]: 'run_0000000000000000000000',
      [approvalId]: 'approval_0000000000000000',
      [planId]: 'plan_0000000000000000000000',
      [blobId]: '0'.repeat(64),
      [scheduleId]: 'sch_00000000000000000000000',
      'chat-of-a': 'chat-of-nobody',
    };
    const without = (text: string): string =>
      text.replaceAll(/"(?:serverTime|traceId)":"[^"]*"/g, '').replaceAll(/(?:run|approval|plan|sch)_\w+/g, 'id');
    for (const [route, row] of Object.entries(matrix)) {
      if (row[1] !== 404 || isOfTenant(route)) continue;
      const attack = attacksOn(filled)[route];
      if (!attack) continue;
      const [method, path] = methodAndPath(route, attack);
      const unknown = Object.entries(known).reduce((all, [id, other]) => all.replaceAll(id, other), path);
      if (unknown === path) continue;
      const [found, missing] = [
        await filled.as.other(method, path, attack),
        await filled.as.other(method, unknown, attack),
      ];
      expect([found.status, without(found.text)], route).toEqual([missing.status, without(missing.text)]);
    }
  });

  it('finds chats and files of another person for administrators that name it, and for nobody else', async () => {
    const { as, ids: { blobId } } = await endpoint();
    for (const path of ['/v1/chats/chat-of-a', `/v1/blobs/${blobId}`]) {
      expect((await as.other('GET', path)).status, path).toBe(404);
      expect((await as.admin('GET', path)).status, path).toBe(404);
      expect(await as.admin('GET', `${path}?subject=ada`), path).toMatchObject({ status: 200 });
      expect((await as.other('GET', `${path}?subject=ada`)).status, path).toBe(403);
      expect((await as.stranger('GET', `${path}?subject=ada`)).status, path).toBe(404);
    }
  });

  it('lets the owner alone go on with a call that another may approve', async () => {
    const { as, ids: { runId, approvalId } } = await endpoint();
    const decided = await as.approver('POST', `/v1/runs/${runId}/approvals/${approvalId}`, {
      body: { approved: true },
    });
    expect(decided.status).toBe(204);
    for (const path of [`/v1/runs/${runId}`, `/v1/runs/${runId}/stream`, '/v1/chats/chat-of-a']) {
      expect((await as.approver('GET', path)).status, path).toBe(404);
    }
  });
});
