/** Checks of resolving: a caller receives exactly the requested value, and it appears nowhere else. */

import { assert, assertEqual } from '../assert.ts';
import { failureOf, origin, resolve, type SecretsCheck } from './check.ts';
import { namingPrintings, printings, textsIn } from './printing.ts';

const values = {
  'api-key': 'sk-live-0123456789',
  'api-key-2': 'sk-other-987654321',
  'Db.Password': 'pässwört 漢字 😀 "\\\n',
};
type SecretId = keyof typeof values;
const ids = Object.keys(values) as SecretId[]; // safe: the keys are the type

/** The checks of `resolve` on what is there, and what is not. */
export const resolvingChecks: readonly SecretsCheck[] = [
  {
    name: 'returns each secret with its value, its id and a version',
    async run({ open }) {
      const secrets = await open(values, [origin]);
      for (const id of ids) {
        const secret = await resolve(secrets, id);
        assertEqual(secret.id, id);
        assert(secret.reveal() === values[id], `The value of ${id} is another one`);
        assert(secret.version !== '', 'The version is empty');
      }
    },
  },
  {
    name: 'returns the same version while the value stays the same',
    async run({ open }) {
      const secrets = await open(values, [origin]);
      const [first, second] = [await resolve(secrets, 'api-key'), await resolve(secrets, 'api-key')];
      assertEqual(second.version, first.version);
      assert(second.reveal() === values['api-key'], 'The value is another one');
    },
  },
  {
    name: 'returns a new value with a new version, and leaves other secrets unchanged',
    async run({ open }) {
      const secrets = await open(values, [origin]);
      const [before, other] = [await resolve(secrets, 'api-key'), await resolve(secrets, 'api-key-2')];
      await secrets.set('api-key', 'sk-live-after-rotation');
      const after = await resolve(secrets, 'api-key');
      assert(after.reveal() === 'sk-live-after-rotation', 'The value is the old one');
      assert(after.version !== before.version, 'The version is the old one');
      assertEqual((await resolve(secrets, 'api-key-2')).version, other.version);
      assert(before.reveal() === values['api-key'], 'A secret that was handed out has changed');
    },
  },
  {
    name: 'returns to each of many concurrent callers the secret that it requested',
    async run({ open }) {
      const secrets = await open(values, [origin]);
      const requested = Array.from({ length: 60 }, (_, at) => ids[at % ids.length] as SecretId); // safe: within
      const given = await Promise.all(requested.map((id) => resolve(secrets, id)));
      assertEqual(given.map(({ id }) => id), requested);
      assert(
        given.every((secret, at) => secret.reveal() === values[requested[at] as SecretId]),
        'Values were mixed up',
      );
    },
  },
  {
    name: 'prints a secret as its id in brackets, and its value nowhere',
    async run({ open }) {
      const secret = await resolve(await open(values, [origin]), 'api-key');
      for (const [way, text] of Object.entries(printings(secret))) {
        assert(!text.includes(values['api-key']), `${way} shows the value`);
        assert(!namingPrintings.includes(way) || text.includes('[secret api-key]'), `${way} does not name the secret`);
      }
    },
  },
  {
    name: 'rejects a secret that is missing or was removed as not_found, and an error shows no value',
    async run({ open }) {
      const secrets = await open(values, [origin]);
      await secrets.set('api-key-2', undefined);
      for (const id of ['missing', 'api-key-2', 'api', 'constructor', 'toString', 'hasOwnProperty']) {
        const error = await failureOf(() => resolve(secrets, id));
        assertEqual([error.code, error.retryable], ['not_found', false], id);
        assert(error.message.includes(id), 'The message does not name the secret');
        const text = textsIn(error);
        assert(!Object.values(values).some((value) => text.includes(value)), 'The error shows a value');
      }
      assert((await resolve(secrets, 'api-key')).reveal() === values['api-key'], 'Another secret was removed, too');
    },
  },
];
