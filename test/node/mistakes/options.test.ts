import { describe, expect, it } from 'vitest';
import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { recordSource } from '../../../adapters/grounding/records.ts';
import { textSource } from '../../../adapters/grounding/text.ts';
import { vectorSource } from '../../../adapters/grounding/vector.ts';
import { rehearsal } from '../../../adapters/models/rehearsal.ts';
import { modelSource } from '../../../adapters/models/source.ts';
import { consoleSink } from '../../../adapters/sinks/console.ts';
import { denoKvStorage } from '../../../adapters/storage/deno-kv.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { postgresStorage } from '../../../adapters/storage/postgres.ts';
import { createAuthenticator } from '../../../adapters/transport/authenticator.ts';
import { bearerAuthenticator } from '../../../adapters/transport/bearer-authenticator.ts';
import { createClient } from '../../../adapters/transport/client.ts';
import { developmentAuthenticator } from '../../../adapters/transport/development-authenticator.ts';
import { createHandler } from '../../../adapters/transport/http.ts';
import { jwtAuthenticator } from '../../../adapters/transport/jwt-authenticator.ts';
import { sessionAuthenticator } from '../../../adapters/transport/session-authenticator.ts';
import { checkStored } from '../../../adapters/upkeep/stored-data.ts';
import {
  createAudit,
  createGrounding,
  createPlanner,
  createRegistry,
  createRuntime,
  createTree,
  PinnaceError,
} from '../../../src/index.ts';
import { openTree } from '../../../src/tree/index.ts';
import { says, scriptedModel } from '../../fixtures/model.ts';
import { testRuntime } from '../../fixtures/runtime.ts';

const storage = memoryStorage();
const catalog = staticCatalog({ agents: [], providers: [] });
const principalOf = (): undefined => undefined;
const text = 'x'.repeat(16);
const handlerOf = (options: object) =>
  createHandler(testRuntime({ model: scriptedModel(says('Hi')).model }), options as never);

/** Public functions by name: a call with options that are right, and one of their options. */
const calls: readonly (readonly [name: string, call: (options: never) => unknown, options: object, option: string])[] =
  [
    ['createRuntime', createRuntime, { catalog, models: modelSource(), storage }, 'limits'],
    ['createHandler', handlerOf, { authenticator: developmentAuthenticator({ token: text }) }, 'origins'],
    ['createGrounding', createGrounding, { sources: [] }, 'weights'],
    ['createPlanner', createPlanner, { storage, runAgent: () => ({ type: 'done', result: 1 }) }, 'authorize'],
    ['createAudit', createAudit, { storage }, 'retentionMs'],
    ['createRegistry', createRegistry, { storage }, 'authorize'],
    ['createTree', createTree, { payloadTypes: {} }, 'historyLimit'],
    ['staticCatalog', staticCatalog, { agents: [], providers: [] }, 'mcpServers'],
    ['memoryStorage', memoryStorage, {}, 'maxEntries'],
    ['denoKvStorage', denoKvStorage, {}, 'onError'],
    ['postgresStorage', postgresStorage, { connect: () => ({}) }, 'pollMs'],
    ['textSource', textSource, { id: 'a' }, 'refreshMs'],
    ['vectorSource', vectorSource, { id: 'a' }, 'embedder'],
    ['recordSource', recordSource, { id: 'a', list: () => [] }, 'freshMs'],
    ['rehearsal', rehearsal, {}, 'delayMs'],
    ['modelSource', modelSource, {}, 'privateOrigins'],
    ['consoleSink', consoleSink, {}, 'format'],
    [
      'createAuthenticator',
      createAuthenticator,
      { issuers: [], audience: 'a', authorities: ['a'], storage },
      'subjectOf',
    ],
    ['bearerAuthenticator', bearerAuthenticator, { tokens: [] }, 'tokens'],
    ['developmentAuthenticator', developmentAuthenticator, { token: text }, 'token'],
    [
      'jwtAuthenticator',
      jwtAuthenticator,
      { issuer: 'a', audience: 'a', keys: { keys: [] }, principalOf },
      'requiredScopes',
    ],
    ['sessionAuthenticator', sessionAuthenticator, { lookup: principalOf }, 'lookup'],
    ['createClient', createClient, { url: 'https://a.example', credentials: { bearer: 'x' } }, 'agentId'],
    ['checkStored', (options) => checkStored(storage, options), {}, 'onProgress'],
    ['openTree', openTree, { storage, treeId: 'a', payloadTypes: {} }, 'conflictScope'],
  ];

/** What a call throws or rejects with; `undefined` where it accepts its options. */
async function refusalOf(call: (options: never) => unknown, options: object): Promise<unknown> {
  try {
    await call(options as never);
    return undefined;
  } catch (thrown) {
    return thrown;
  }
}

describe('an option that is not known', () => {
  it.each(calls)('is refused by %s with the nearest name', async (_, call, options, option) => {
    const misspelt = `${option.slice(0, -1)}_`;
    const thrown = await refusalOf(call, { ...options, [misspelt]: 1 });
    expect(thrown).toBeInstanceOf(PinnaceError);
    expect(thrown).toMatchObject({ code: 'invalid_argument', details: { reason: 'wrong_argument', field: misspelt } });
    expect((thrown as PinnaceError).message).toContain(option);
  });

  it.each(calls)('is the only thing that %s refuses', async (_, call, options) => {
    const thrown = await refusalOf(call, options);
    expect(thrown instanceof PinnaceError ? thrown.details?.['reason'] : undefined).not.toBe('wrong_argument');
  });
});
