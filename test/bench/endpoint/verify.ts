/** How many signed requests of 8 KiB are verified a second, for `deno run`: prints milliseconds a round, and the requests of one. */

import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createAuthenticator } from '../../../adapters/transport/authenticator.ts';
import { authority, createSigner } from './signer.ts';

const perRound = 1_000;
const rounds = 7;
const atOnce = 8;

const signer = await createSigner();
const authenticator = createAuthenticator({
  issuers: [signer.trusted],
  audience: 'bench',
  authorities: [authority],
  storage: memoryStorage(),
});
const body = JSON.stringify({ text: 'x'.repeat(8 * 1024 - 11) });

async function round(): Promise<number> {
  const signed = await Promise.all(
    Array.from({ length: perRound }, () => signer.sign({ method: 'POST', path: '/v1/runs', body })),
  );
  const requests = signed.map(({ path, ...init }) => new Request(`http://${authority}${path}`, init));
  const startedAt = performance.now();
  const verify = async (): Promise<void> => {
    for (let next = requests.pop(); next; next = requests.pop()) await authenticator.authenticate(next);
  };
  await Promise.all(Array.from({ length: atOnce }, verify));
  return performance.now() - startedAt;
}

await round();
const times: number[] = [];
for (let i = 0; i < rounds; i++) times.push(await round());
console.log(JSON.stringify({ perRound, times }));
