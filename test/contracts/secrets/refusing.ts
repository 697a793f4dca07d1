/** Checks of rejections: denied, missing and late secrets have three codes. */

import { PinnaceError } from '../../../src/base/errors.ts';
import { assert, assertEqual } from '../assert.ts';
import { type DeniableSecrets, failureOf, origin, resolve, type SecretsCheck, type WaitingSecrets } from './check.ts';
import { textsIn } from './printing.ts';

const value = 'sk-live-0123456789';
const values = { 'api-key': value, 'api-key-2': 'sk-other-987654321' };

/** The checks of secrets that may be denied. */
export const denyingChecks: readonly SecretsCheck<DeniableSecrets>[] = [
  {
    name: 'rejects a denied secret as forbidden, no matter how often, and an error shows no value',
    async run({ open }) {
      const secrets = await open(values, [origin]);
      await secrets.deny('api-key');
      for (let times = 0; times < 2; times++) {
        const error = await failureOf(() => resolve(secrets, 'api-key'));
        assertEqual([error.code, error.retryable], ['forbidden', false]);
        assert(!textsIn(error).includes(value), 'The error shows the value');
      }
      assertEqual((await failureOf(() => resolve(secrets, 'missing'))).code, 'not_found');
      assert((await resolve(secrets, 'api-key-2')).reveal() === values['api-key-2'], 'Another secret is denied, too');
    },
  },
];

export const waitingChecks: readonly SecretsCheck<WaitingSecrets>[] = [
  {
    name: "rejects with the signal's reason if that is a PinnaceError",
    async run({ open }) {
      const reason = new PinnaceError('deadline_exceeded', 'The source did not answer within 2000 ms');
      assertEqual(await failureOfAbort(await open(values, [origin]), reason) === reason, true);
    },
  },
  {
    name: "rejects as unavailable and retryable when the signal's timeout has passed",
    async run({ open }) {
      const error = await failureOfAbort(await open(values, [origin]), new DOMException('too late', 'TimeoutError'));
      assertEqual([error.code, error.retryable], ['unavailable', true]);
    },
  },
  {
    name: 'rejects as cancelled when the caller aborts',
    async run({ open }) {
      assertEqual((await failureOfAbort(await open(values, [origin]), undefined)).code, 'cancelled');
    },
  },
  {
    name: 'returns nothing to a caller whose signal has already aborted',
    async run({ open }) {
      const secrets = await open(values, [origin]);
      const error = await failureOf(() => resolve(secrets, 'api-key', AbortSignal.abort()));
      assertEqual(error.code, 'cancelled');
    },
  },
  {
    name: 'continues for the other callers when one aborts',
    async run({ open }) {
      const secrets = await open(values, [origin]);
      const stop = new AbortController();
      const calls = [resolve(secrets, 'api-key', stop.signal), resolve(secrets, 'api-key')];
      stop.abort();
      const [aborted, other] = await Promise.allSettled(calls);
      assertEqual(aborted?.status, 'rejected');
      assert(other?.status === 'fulfilled' && other.value.reveal() === value, 'The other caller got nothing');
    },
  },
];

/** The error of a call that is aborted while it waits. */
async function failureOfAbort(secrets: WaitingSecrets, reason: unknown): Promise<PinnaceError> {
  await secrets.stall();
  const stop = new AbortController();
  const call = resolve(secrets, 'api-key', stop.signal);
  stop.abort(reason);
  return await failureOf(() => call);
}
