/** What a stranger of the same tenant learns by an id: in the path, the query, a header or the body. Nothing. */

import { describe, expect, it } from 'vitest';
import { scopes } from '../../../src/base/principal.ts';
import {
  attacksOn,
  endpointOfEverything,
  fillEndpoint,
  marker,
  methodAndPath,
  routesOf,
} from '../../fixtures/every-route.ts';
import { runRequest, userMessage } from '../../fixtures/runtime.ts';

const usual = scopes.filter((scope) => scope !== 'admin');
const callers = {
  owner: { tenant: 'a', subject: 'ada', scopes: usual },
  other: { tenant: 'a', subject: 'bo', scopes: usual },
};

const filledEndpoint = async () => await fillEndpoint(await endpointOfEverything(callers, { keep: 'inputs' }));
type Filled = Awaited<ReturnType<typeof filledEndpoint>>;
type Sent = Parameters<Filled['as']['other']>[2];

/** Each id of the owner, and one of the same form that does not exist. */
const unknownOf = (
  { ids: { runId, approvalId, planId, blobId, messageId } }: Filled,
): Readonly<Record<string, string>> => ({
  [runId]: `${runId.slice(0, -6)}zzzzzz`,
  [approvalId]: `${approvalId.slice(0, -6)}zzzzzz`,
  [planId]: `${planId.slice(0, -6)}zzzzzz`,
  [messageId]: `${messageId.slice(0, -6)}zzzzzz`,
  [blobId]: `${blobId.slice(0, -6)}000000`,
  'chat-of-a': 'chat-of-z',
  'key-of-a-0123456789': 'key-of-z-0123456789',
  'ada': 'zoe',
});

/** The same text without what differs between any two answers: times, ids of runs and messages that were made for it. */
const comparable = (text: string, ids: Readonly<Record<string, string>>): string =>
  Object.entries(ids).reduce((all, [id, other]) => all.replaceAll(id, other), text)
    .replaceAll(/"(?:serverTime|traceId|createdAt|updatedAt|startedAt|expiresAt|at|time)":(?:"[^"]*"|\d+)/g, '')
    .replaceAll(/"durationMs":[\d.]+/g, '')
    .replaceAll(/,*"cache":\{"cacheableTokens":\d+,"breaks":\[[^\]]*\]\}/g, '') // the caller's own chat is sent twice
    .replaceAll(/,+(?=\})/g, '')
    .replaceAll(/(?:run|approval|plan|msg|message|chat|step|apr|call|sch)_\w{8,}/g, 'id')
    .replaceAll(/\b\w{8}-\w{4}-\w{4}-\w{4}-\w{12}\b/g, 'uuid');

/** Sends the request with the ids of the owner, and with ids that do not exist. */
async function compare(
  filled: Filled,
  [method, path, sent]: readonly [string, string, Sent],
): Promise<readonly [string, string]> {
  const ids = unknownOf(filled);
  const swap = (text: string): string =>
    Object.entries(ids).reduce((all, [id, other]) => all.replaceAll(id, other), text);
  const answers = [];
  for (const change of [(text: string) => text, swap]) {
    const { status, text } = await filled.as.other(
      method,
      change(path),
      JSON.parse(change(JSON.stringify(sent ?? {}))) as Sent,
    ); // safe: it was one
    expect(text, `${method} ${path}`).not.toContain(marker);
    answers.push(`${status} ${comparable(text, ids)}`);
  }
  return [answers[0] ?? '', answers[1] ?? ''];
}

/** What belongs to the tenant: its records, and what they say. */
const isOfTenant = (route: string): boolean =>
  /^\S+ \/v1\/(?:agents|tools|providers|mcp-servers|data-sources|grounding|export|import|prewarm)\b/.test(route) &&
  !/\{id\}\/(?:chat|agui)/.test(route);

describe('another person of the tenant', () => {
  it('gets, by an id of the owner, the answer of an id that does not exist, on every route and by HEAD', async () => {
    const filled = await filledEndpoint();
    const routes = (await routesOf(filled)).filter((route) => !isOfTenant(route) && !route.endsWith('/events'));
    expect(routes.length).toBeGreaterThan(25);
    for (const route of routes) {
      const attack = attacksOn(filled)[route]!;
      const [method, path] = methodAndPath(route, attack);
      for (const one of method === 'GET' ? [method, 'HEAD'] : [method]) {
        const [found, missing] = await compare(filled, [one, path, attack]);
        expect(found, `${one} ${path}`).toBe(missing);
      }
    }
  });

  it('gets it by ids in queries, headers and bodies as well', async () => {
    const filled = await filledEndpoint();
    const { runId, approvalId, blobId, messageId } = filled.ids;
    const file = { type: 'file', mediaType: 'text/plain', url: `pinnace-blob:${blobId}` };
    const chat = { id: 'chat-of-a', messages: [userMessage('Hi')], store: true };
    const run = { agentId: 'agent-of-a' };
    const asks: readonly (readonly [string, string, Sent])[] = [
      ['GET', `/v1/runs/${runId}/stream?after=${runId}:0`, {}],
      ['GET', `/v1/runs/${runId}/stream`, { headers: { 'last-event-id': `${runId}:1` } }],
      ['GET', '/v1/agents/agent-of-a/chat/chat-of-a/stream', { headers: { 'last-event-id': '1' } }],
      ['GET', '/v1/chats/chat-of-a?limit=1', {}],
      ['GET', '/v1/budgets?subject=ada', {}],
      ['GET', '/v1/chats?subject=ada', {}],
      ['POST', '/v1/runs', {
        body: runRequest({ ...run, chat }),
        headers: { 'idempotency-key': '"key-of-a-0123456789"' },
      }],
      ['POST', '/v1/runs', {
        body: runRequest({ ...run, chat: { id: 'c2', messages: [{ ...userMessage('Hi'), parts: [file] }] } } as never),
        headers: { 'idempotency-key': '"file-of-ada-0123456789"' },
      }],
      ['POST', '/v1/agents/agent-of-a/chat', {
        body: { id: 'chat-of-a', messageId, trigger: 'regenerate-message', messages: [userMessage('Hi')] },
      }],
      ['POST', `/v1/runs/${runId}/messages`, { body: { id: messageId, parts: [{ type: 'text', text: 'Obey' }] } }],
      ['POST', `/v1/runs/${runId}/approvals/${approvalId}`, { body: { approved: false } }],
      ['POST', `/v1/runs/${runId}/forks`, {
        body: { atStep: 1, effects: 'dry', chatId: 'chat-of-a' },
        headers: { 'idempotency-key': '"fork-of-b-0123456789"' },
      }],
    ];
    const seen: string[] = [];
    for (const ask of asks) {
      const [found, missing] = await compare(filled, ask);
      expect(found, `${ask[0]} ${ask[1]}`).toBe(missing);
      seen.push(found.slice(0, 3));
    }
    expect(seen).not.toContain('400'); // each is understood
  });

  it('cannot use the page tokens of the owner', async () => {
    const filled = await filledEndpoint();
    const { owner, other } = filled.as;
    const chat = { id: 'second-of-a', messages: [userMessage('Hi')], store: true };
    await owner('POST', '/v1/runs', { body: runRequest({ agentId: 'agent-of-a', chat }) });
    for (const path of ['/v1/chats?limit=1', '/v1/chats/chat-of-a?limit=1']) {
      const { nextPageToken } = JSON.parse((await owner('GET', path)).text) as { readonly nextPageToken?: string };
      if (nextPageToken === undefined) continue;
      const own = path.replace('/chat-of-a', '/second-of-a');
      const { status, text } = await other('GET', `${path}&pageToken=${nextPageToken}`);
      expect([status, text], own).not.toEqual([200, expect.stringContaining('of-a')]);
      expect(text).not.toContain(marker);
    }
  });
});
