/** The built playground with an issuer that certifies it, as `npm start` gives it, and an endpoint that trusts that issuer. */

import { join } from 'node:path';
import type { Page } from 'playwright';
import { preview } from 'vite';
import { type CertificateIssuer, createIssuer } from '../../adapters/transport/issuer.ts';
import { developmentAudience } from '../../demo/development-issuer.ts';
import { developmentIssuerPlugin } from '../../demo/issuer-plugin.ts';
import { type EndpointProcess, startEndpoint } from './endpoint.ts';
import { freePort } from './http-server.ts';

const configFile = join(import.meta.dirname, '../../vite.config.ts');

/** The two, while they run. */
export interface EndpointPage {
  /** Where the playground is. */
  readonly origin: string;
  readonly endpoint: EndpointProcess;
  stop(): Promise<void>;
}

/** Starts an endpoint that takes signed requests of this issuer's clients, and pages of this origin. */
export async function startTrustingEndpoint(issuer: CertificateIssuer, origin: string): Promise<EndpointProcess> {
  const address = `127.0.0.1:${await freePort()}`; // known before it serves: the endpoint is told its own address
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

/** Serves the build of this folder, and starts the endpoint. */
export async function startEndpointPage(outDir: string): Promise<EndpointPage> {
  const issuer = await createIssuer({ iss: 'https://issuer.localhost', audience: developmentAudience });
  const server = await preview({
    configFile,
    logLevel: 'error',
    plugins: [developmentIssuerPlugin(issuer)],
    preview: { port: 0 },
    build: { outDir },
  });
  const { origin } = new URL(server.resolvedUrls?.local[0] ?? '');
  const endpoint = await startTrustingEndpoint(issuer, origin);
  return {
    origin,
    endpoint,
    async stop() {
      await endpoint.stop();
      await server.close();
    },
  };
}

/** Chooses the endpoint in the settings of the page. */
export async function chooseEndpoint(page: Page, { url }: { readonly url: string }): Promise<void> {
  await page.getByTestId('model-badge').click();
  await page.getByTestId('settings-pinnace').check();
  await page.getByTestId('settings-url').fill(url);
  await page.getByTestId('settings-save').click();
  await page.getByTestId('settings-dialog').waitFor({ state: 'detached' });
}
