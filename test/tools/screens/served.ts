/** The built playground, and an endpoint that knows it: what the ways to all screens need. */

import { join } from 'node:path';
import { preview } from 'vite';
import { type CertificateIssuer, createIssuer } from '../../../adapters/transport/issuer.ts';
import { developmentAudience } from '../../../demo/development-issuer.ts';
import { developmentIssuerPlugin } from '../../../demo/issuer-plugin.ts';
import type { Scope } from '../../../src/runtime/principal.ts';
import { type EndpointProcess, startEndpoint } from '../endpoint.ts';
import { freePort } from '../http-server.ts';
import type { Whereabouts } from './screen.ts';

/** Where both are. */
export interface Served extends Whereabouts {
  readonly process: EndpointProcess;
  /** What the page is certified as from its next connection on. */
  readonly certifyAs: (how: { readonly scopes?: readonly Scope[]; readonly isKnown?: boolean }) => void;
  readonly stop: () => Promise<void>;
}

/** Serves the build in this folder, certifies its keys, and starts an endpoint that trusts them. */
export async function serveWithEndpoint(outDir: string): Promise<Served> {
  const named = { iss: 'https://issuer.localhost', audience: developmentAudience };
  const [issuer, stranger] = [await createIssuer(named), await createIssuer(named)];
  let as: Parameters<Served['certifyAs']>[0] = {};
  const certify: CertificateIssuer['certify'] = (request) =>
    (as.isKnown === false ? stranger : issuer).certify({ ...request, scopes: as.scopes ?? request.scopes });
  const server = await preview({
    configFile: join(import.meta.dirname, '../../../vite.config.ts'),
    logLevel: 'error',
    plugins: [developmentIssuerPlugin({ ...issuer, certify })],
    preview: { port: 0 },
    build: { outDir },
  });
  const playground = server.resolvedUrls?.local[0] ?? '';
  const address = `127.0.0.1:${await freePort()}`; // known before it serves: the endpoint is told its own address
  const endpoint = await startEndpoint({
    env: {
      DENO_SERVE_ADDRESS: `tcp:${address}`,
      PINNACE_ISSUERS: JSON.stringify([issuer.trusted]),
      PINNACE_AUDIENCE: developmentAudience,
      PINNACE_ORIGINS: new URL(playground).origin,
      PINNACE_AUTHORITIES: address,
    },
  });
  return {
    playground,
    endpoint: endpoint.url,
    process: endpoint,
    certifyAs: (how) => void (as = how),
    async stop() {
      await endpoint.stop();
      await server.close();
    },
  };
}
