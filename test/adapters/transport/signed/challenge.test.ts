import { describe, expect, it } from 'vitest';
import { challengeHeaders } from '../../../../adapters/transport/signed/profile.ts';
import { PinnaceError } from '../../../../src/index.ts';
import { startSeconds } from './session.ts';

describe('challengeHeaders', () => {
  const refused = new PinnaceError('signature_expired', 'The signature has expired', { status: 401 });

  it('names what is wrong, what to sign and the time', () => {
    const parts =
      '"@method" "@authority" "@path" "@query" "authorization" "content-type" "content-digest" "idempotency-key"';
    const parameters = String.raw`created;expires;nonce="[\w-]{16,64}";keyid;alg="ed25519";tag="agents-worker-v1"`;
    expect(challengeHeaders(refused, startSeconds * 1000)).toEqual({
      'www-authenticate': 'GC-Session error="signature_expired"',
      'accept-signature': expect.stringMatching(new RegExp(`^gc=\\(${parts}\\);${parameters}$`)) as string,
      date: 'Fri, 15 Jan 2027 08:00:00 GMT',
    });
  });

  it('adds nothing to any other answer', () => {
    expect(challengeHeaders(new PinnaceError('forbidden', 'No'), 0)).toEqual({});
  });
});
