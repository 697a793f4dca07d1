/** Asks a model server with a key that the page never reads back. */

import type { SecretSource } from '../../../src/contracts/egress.ts';
import { localPrincipal } from '../../../src/base/principal.ts';
import type { Endpoint, ServerAnswer } from '../../control/page-control.ts';
import { listModels, testModel } from '../state/ask-server.ts';

/** Lists the models, or tries one. The vault's key goes to its own origin alone. */
export async function askWithKey(
  server: Omit<Endpoint, 'model'> | undefined,
  { model, secrets }: { readonly model?: string | undefined; readonly secrets: SecretSource },
): Promise<ServerAnswer> {
  if (!server) return { ok: false, text: 'The key of this server was not stored. Choose a model to enter it again.' };
  const { baseUrl, apiKey, secretId } = server;
  const key = apiKey ?? (secretId === undefined ? undefined : await keyOf(secretId, { baseUrl, secrets }));
  const access = { baseUrl, ...(key !== undefined && { apiKey: key }) };
  const { fetch } = globalThis;
  if (model === undefined) {
    const listed = await listModels(access, { fetch });
    return listed.ok ? { ok: true, models: listed.value } : listed;
  }
  const tried = await testModel({ ...access, model }, { fetch });
  return tried.ok ? { ok: true, afterMs: tried.value } : tried;
}

async function keyOf(
  id: string,
  { baseUrl, secrets }: { readonly baseUrl: string; readonly secrets: SecretSource },
): Promise<string | undefined> {
  const { tenant } = localPrincipal();
  const scope = { tenant, agentId: '', origin: new URL(baseUrl).origin };
  const secret = await secrets.resolve({ id }, { scope, signal: AbortSignal.timeout(15_000) }).catch(() => undefined);
  return secret?.reveal();
}
