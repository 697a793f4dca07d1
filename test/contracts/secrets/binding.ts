/** Checks of destinations: a secret goes only to the origins that its definition declares. */

import { assert, assertEqual } from '../assert.ts';
import { failureOf, type OpenSecrets, origin, scope, type SecretsCheck } from './check.ts';
import { textsIn } from './printing.ts';

const value = 'sk-live-0123456789';
const values = { 'crm-key': value };
const elsewhere = [
  'https://evil.example.com',
  'http://api.example.com',
  `${origin}:8443`,
  'https://sub.api.example.com',
];

/** The checks of where a secret may go. */
export const bindingChecks: readonly SecretsCheck[] = [
  {
    name: 'returns a secret for each of its declared origins, and lists them',
    async run({ open }) {
      const other = 'https://other.example.com';
      const secrets = await open(values, [origin, other]);
      for (const destination of [origin, other]) {
        const secret = await resolveFor(secrets, destination);
        assert(secret.reveal() === value, 'The value is another one');
        assertEqual(secret.origins, [origin, other]);
      }
    },
  },
  {
    name: 'rejects every other origin as forbidden, and names the secret and the origin',
    async run({ open }) {
      const secrets = await open(values, [origin]);
      for (const destination of elsewhere) {
        const error = await failureOf(() => resolveFor(secrets, destination));
        assertEqual([error.code, error.retryable], ['forbidden', false], destination);
        const { reason, secret, origin: named } = error.details ?? {};
        assertEqual([reason, secret, named], ['secret_origin_mismatch', 'crm-key', destination]);
        assert(!textsIn(error).includes(value), 'The error shows the value');
      }
    },
  },
  {
    name: 'passes a secret to code of the composition only if its origins include "code"',
    async run({ open }) {
      const bound = await open(values, [origin]);
      assertEqual((await failureOf(() => resolveFor(bound, undefined))).details?.['reason'], 'secret_origin_mismatch');
      const forCode = await open(values, ['code']);
      assert((await resolveFor(forCode, undefined)).reveal() === value, 'Code does not get the value');
      assertEqual((await failureOf(() => resolveFor(forCode, origin))).details?.['reason'], 'secret_origin_mismatch');
    },
  },
  {
    name: 'returns a secret without declared origins for no origin',
    async run({ open }) {
      for (const origins of [undefined, []]) {
        const secrets = await open(values, origins);
        for (const destination of [origin, undefined]) {
          const error = await failureOf(() => resolveFor(secrets, destination));
          assertEqual([error.code, error.details?.['reason']], ['forbidden', 'secret_origin_mismatch']);
        }
      }
    },
  },
  {
    name: 'keeps the origins of a secret whose value is replaced',
    async run({ open }) {
      const secrets = await open(values, [origin]);
      await secrets.set('crm-key', 'sk-live-after-rotation');
      assertEqual((await resolveFor(secrets, origin)).origins, [origin]);
      assertEqual((await failureOf(() => resolveFor(secrets, elsewhere[0]))).code, 'forbidden');
    },
  },
];

function resolveFor({ source }: OpenSecrets, destination: string | undefined) {
  const { origin: _, ...asking } = scope;
  return source.resolve({ id: 'crm-key' }, {
    scope: { ...asking, ...(destination !== undefined && { origin: destination }) },
    signal: new AbortController().signal,
  });
}
