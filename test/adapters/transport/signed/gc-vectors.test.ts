import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { createAuthenticator } from '../../../../adapters/transport/authenticator.ts';
import vectors from '../../../fixtures/vectors/gc-auth-vectors.json' with { type: 'json' };
import { verdict } from './session.ts';

const now = () => vectors.now * 1000;
const { issuers, audience, authorities } = vectors.config;
const storage = memoryStorage({ now });
const authenticator = createAuthenticator({ issuers, audience, authorities, storage, now });

describe('the vectors of the session profile, in order and with one store', () => {
  it.each(vectors.cases)(
    '$id: gives what is expected for "$name"',
    async ({ request: { url, ...init }, expect: right }) => {
      const code = right.code ?? '[a-z_]+'; // where the vector names none, any will do
      const expected = right.status === 'ok' ? /^ok$/ : new RegExp(`^${right.status} ${code}$`);
      expect(await verdict(authenticator, new Request(url, init))).toMatch(expected);
    },
  );

  it.each(vectors.cases.filter(({ expect: right }) => right.status === 'ok'))(
    '$id: refuses "$name" the second time',
    async ({ request: { url, ...init } }) => {
      expect(await verdict(authenticator, new Request(url, init))).toBe('401 signature_replayed');
    },
  );
});
