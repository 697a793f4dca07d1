/** `pinnace keys`: a root key for an issuer of session certificates. */

import { createIssuer, generateRootKey } from '../../transport/issuer.ts';
import { type Command, requireOption } from '../command.ts';
import { writeIssuerFile } from '../issuer-file.ts';

/** The command. */
export const keys: Command = {
  summary: 'Make the key of an issuer; print its public entry for the endpoint',
  usage: `pinnace keys --iss URL --audience NAME --out FILE [--deployment]

  --iss URL        the issuer's name in certificates
  --audience NAME  the audience that the endpoint is configured with
  --out FILE       receives the private key; a new file, readable by its owner only
  --deployment     its certificates may speak for the deployment

Prints the entry for "issuers" of createAuthenticator, as JSON.`,
  options: {
    iss: { type: 'string' },
    audience: { type: 'string' },
    out: { type: 'string' },
    deployment: { type: 'boolean' },
  },
  args: [0, 0],
  async run(given, { out }) {
    const [iss, audience, file] = ['iss', 'audience', 'out'].map((name) => requireOption(given, name)) as [
      string,
      string,
      string,
    ]; // as many as names
    const deployment = given.options['deployment'] === true;
    const { kty, crv = '', x = '', d = '' } = await generateRootKey();
    const privateKey = { kty, crv, x, d };
    const { trusted } = await createIssuer({ iss, audience, privateKey, deployment });
    await writeIssuerFile(file, { iss, audience, deployment, privateKey });
    out(`${JSON.stringify(trusted, null, 2)}\n`);
    return 0;
  },
};
