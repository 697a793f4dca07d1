/** `pinnace token`: a bearer token and its digest. */

import { Buffer } from 'node:buffer';
import { digestOfToken } from '../../transport/bearer-authenticator.ts';
import { type Command, requireOption } from '../command.ts';
import { writeSecret } from '../issuer-file.ts';

/** The command. */
export const token: Command = {
  summary: 'Make a bearer token; print its digest for the endpoint',
  usage: `pinnace token --out FILE

  --out FILE  receives the token; a new file, readable by its owner only

Prints the "digest" for bearerAuthenticator and for the token of metrics.`,
  options: { out: { type: 'string' } },
  args: [0, 0],
  async run(given, { out }) {
    const bits = crypto.getRandomValues(new Uint8Array(32));
    const made = Buffer.from(bits).toString('base64url');
    await writeSecret(requireOption(given, 'out'), `${made}\n`);
    out(`${await digestOfToken(made)}\n`);
    return 0;
  },
};
