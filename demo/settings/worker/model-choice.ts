/** Which model server the sample agents use: the one a person connected, else the provider of the registry. */

import { staticCatalog } from '../../../adapters/catalog/static.ts';
import type { memorySecrets } from '../../../adapters/secrets/memory.ts';
import type { Catalog, McpServerWriter } from '../../../src/contracts/catalog.ts';
import { originOf } from '../../../src/base/secret-origins.ts';
import type { Endpoint } from '../../app/worker/control.ts';

/** The secret that holds the key of the connected model server. */
export const keySecret = 'endpoint-key';

/** The choice; it ends with the worker, as its key does. */
export interface ModelChoice {
  /** The next run uses this endpoint; `undefined`: the provider of the registry. */
  readonly use: (endpoint: Endpoint | undefined) => void;
  /** The origin of the connected server, which may be on the person's own network. */
  readonly origins: () => readonly string[];
  /** The registry with the connected provider in front of its own. */
  readonly over: (registry: Catalog & McpServerWriter) => Catalog & McpServerWriter;
}

interface ModelChoiceOptions {
  readonly secrets: ReturnType<typeof memorySecrets>;
  /** Called after each change. */
  readonly onChanged: () => void;
}

/** Creates the choice: no endpoint is connected. */
export function createModelChoice({ secrets, onChanged }: ModelChoiceOptions): ModelChoice {
  let origins: readonly string[] = [];
  let connected: Catalog | undefined;
  return {
    use(endpoint) {
      const origin = endpoint && originOf(endpoint.baseUrl);
      origins = origin === undefined ? [] : [origin];
      const key = endpoint?.apiKey;
      secrets.set(keySecret, key === undefined ? undefined : { value: key, origins });
      connected = endpoint && staticCatalog({ agents: [], providers: [providerOf(endpoint)] });
      onChanged();
    },
    origins: () => origins,
    over: (registry) => ({
      ...registry,
      provider: async (...query) => await connected?.provider(...query) ?? await registry.provider(...query),
    }),
  };
}

function providerOf({ baseUrl, model, apiKey }: Endpoint) {
  const secret = apiKey === undefined ? undefined : { id: keySecret };
  return { id: 'default', kind: 'openai-compatible' as const, baseUrl, model, ...(secret && { secret }) };
}
