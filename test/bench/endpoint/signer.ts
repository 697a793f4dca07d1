/** Signs requests in advance, so that signing costs the load generator nothing. */

import { calculateJwkThumbprint, exportJWK } from 'jose';
import { createIssuer } from '../../../adapters/transport/issuer.ts';
import { createContentDigest, signRequest } from '../../../adapters/transport/signed/signature.ts';
import type { Issuer } from '../../../adapters/transport/signed/roots.ts';
import type { Speech } from './server.ts';

/** A request as it goes over the wire. */
export interface SignedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A session of a Group Controller. */
export interface Signer {
  readonly trusted: Issuer;
  sign(request: { readonly method: string; readonly path: string; readonly body?: string }): Promise<SignedRequest>;
}

/** The host name of the endpoint. */
export const authority = 'pinnace.test';

/** Returns a signer with its own issuer and session. */
export async function createSigner(): Promise<Signer> {
  const issuer = await createIssuer({ iss: 'https://issuer.test', audience: 'bench' });
  const keys = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify']);
  const { certificate, key } = await issuer.issue({
    sub: 's',
    tenant: 't',
    agents: '*',
    scopes: ['run:create', 'run:read', 'run:cancel'],
    keys,
  });
  const keyThumbprint = await calculateJwkThumbprint(await exportJWK(keys.publicKey));
  return {
    trusted: issuer.trusted,
    async sign({ method, path, body }) {
      const headers = new Headers({ authorization: `GC-Session ${certificate}` });
      if (body !== undefined) {
        headers.set('content-type', 'application/json');
        headers.set('content-digest', await createContentDigest(new TextEncoder().encode(body)));
        headers.set('idempotency-key', `"${crypto.randomUUID()}"`);
      }
      const signed = await signRequest({ method, url: new URL(`http://${authority}${path}`), headers }, {
        key,
        keyThumbprint,
        nowSeconds: Math.floor(Date.now() / 1000),
        nonce: crypto.randomUUID(),
      });
      const all = { ...Object.fromEntries(signed), host: authority };
      return { method, path, headers: all, ...(body !== undefined && { body }) };
    },
  };
}

/** The body of a run in which the model speaks so. */
export function runBody(speech: Speech): string {
  const text = JSON.stringify(speech);
  return JSON.stringify({
    agentId: 'helper',
    chat: { id: crypto.randomUUID(), messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text }] }] },
  });
}
