/** The built playground with an issuer that certifies it, as `npm start` serves it, and an endpoint that trusts that issuer. */

import { join } from 'node:path';
import type { Page } from 'playwright';
import { preview } from 'vite';
import { type CertificateIssuer, createIssuer } from '../../../adapters/transport/issuer.ts';
import { developmentAudience } from '../../../demo/development/development-issuer.ts';
import { developmentIssuerPlugin } from '../../../demo/development/issuer-plugin.ts';
import type { Scope } from '../../../src/base/principal.ts';
import { type EndpointProcess, startEndpoint } from './endpoint.ts';
import { freePort } from './http-server.ts';
import type { Whereabouts } from '../screens/screen.ts';

const configFile = join(import.meta.dirname, '../../../vite.config.ts');

/** Where both are, while they run. */
export interface Served extends Omit<Whereabouts, 'servers'> {
  readonly process: EndpointProcess;
  /** What the page is certified as from its next connection on. */
  readonly certifyAs: (how: { readonly scopes?: readonly Scope[]; readonly isKnown?: boolean }) => void;
  readonly stop: () => Promise<void>;
}

/** Starts an endpoint that takes signed requests of this issuer's clients, and pages of this origin. */
async function startTrustingEndpoint(issuer: CertificateIssuer, origin: string): Promise<EndpointProcess> {
  const address = `127.0.0.1:${await freePort()}`; // chosen before it serves, because the endpoint needs its own address
  return await startEndpoint({
    env: {
      DENO_SERVE_ADDRESS: `tcp:${address}`,
      PINNACE_ISSUERS: JSON.stringify([issuer.trusted]),
      PINNACE_AUDIENCE: developmentAudience,
      PINNACE_ORIGINS: origin,
      PINNACE_AUTHORITIES: address,
    },
  });
}

/** Serves the build in this folder, certifies its keys, and starts an endpoint that trusts them. */
export async function serveWithEndpoint(outDir: string): Promise<Served> {
  const named = { iss: 'https://issuer.localhost', audience: developmentAudience, deployment: true };
  const [issuer, stranger] = [await createIssuer(named), await createIssuer(named)];
  let as: Parameters<Served['certifyAs']>[0] = {};
  const certify: CertificateIssuer['certify'] = ({ deployment, ...request }) => {
    const scopes = as.scopes ?? request.scopes;
    const claims = deployment === true && scopes.includes('admin') ? { deployment } : {};
    return (as.isKnown === false ? stranger : issuer).certify({ ...request, ...claims, scopes });
  };
  const server = await preview({
    configFile,
    logLevel: 'error',
    plugins: [developmentIssuerPlugin({ ...issuer, certify })],
    preview: { port: 0 },
    build: { outDir },
  });
  const playground = server.resolvedUrls?.local[0] ?? '';
  const endpoint = await startTrustingEndpoint(issuer, new URL(playground).origin);
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

export async function chooseEndpoint(page: Page, url: string): Promise<void> {
  await page.getByTestId('model-badge').click();
  await page.getByTestId('settings-pinnace').check();
  await page.getByTestId('settings-url').fill(url);
  await page.getByTestId('settings-save').click();
  await page.getByTestId('settings-dialog').waitFor({ state: 'detached' });
}
