/** Calls the local endpoint with a signed request: `npm run ask -- "What is 6 * 7?"`. */

import process from 'node:process';
import { createClient } from '../adapters/transport/client.ts';
import { PinnaceError } from '../src/base/errors.ts';
import { createCertificateSource } from './endpoint/worker/certificate-source.ts';
import { readAskAccess } from './development/development-issuer.ts';

const url = process.env['PINNACE_URL'] ?? `http://127.0.0.1:${process.env['PINNACE_PORT'] ?? '8787'}`;
const agentId = process.env['PINNACE_AGENT'] ?? 'navigator';
const text = process.argv.slice(2).join(' ') || 'Hello, who are you?';

process.stdout.on('error', () => process.exit()); // the reader may have closed the pipe
const port = process.env['PINNACE_PORT'] ?? '8787';
const access = readAskAccess(port);
if (!access) {
  console.error(`Cannot sign the request: no endpoint of this project runs at port ${port}; start it with: npm start`);
  process.exit(1);
}
const headers = { 'content-type': 'application/json', authorization: `Bearer ${access.token}` };
const certificate = await createCertificateSource(access.issuer, {
  fetch: (input, init) => fetch(input, { ...init, headers }),
});
const client = createClient({ url, certificate, attempts: 3 });

try {
  const messages = [{ id: 'm1', role: 'user' as const, parts: [{ type: 'text' as const, text }] }];
  const stream = await client.run({ agentId, chat: { id: crypto.randomUUID(), messages } });
  for await (const chunk of stream) {
    if (chunk.type === 'text-delta') process.stdout.write(chunk.delta);
    else if (chunk.type === 'tool-input-available') console.log(`→ ${chunk.toolName} ${JSON.stringify(chunk.input)}`);
    else if (chunk.type === 'tool-output-available') console.log(`← ${JSON.stringify(chunk.output)}`);
    else if (chunk.type === 'tool-output-error' || chunk.type === 'error') console.log(`✗ ${chunk.errorText}`);
  }
  console.log();
} catch (error) {
  console.error(explain(error));
  process.exitCode = 1;
}

function explain(error: unknown): string {
  if (!(error instanceof PinnaceError)) throw error;
  const hint = error.code === 'unavailable' ? `\nIs the endpoint up? Start it with: npm start` : '';
  return `${error.code}: ${error.message}${hint}`;
}
