/** Which model the sample agents use: the one a person connected, else the provider of the registry. */

import { staticCatalog } from '../../../adapters/catalog/static.ts';
import type { memorySecrets } from '../../../adapters/secrets/memory.ts';
import type { Catalog, McpServerWriter } from '../../../src/contracts/catalog.ts';
import type { CustomModel } from '../../../adapters/models/source.ts';
import type { LanguageModel } from '../../../src/contracts/ai-types.ts';
import { loadOnce } from '../../../src/base/load-once.ts';
import { originOf } from '../../../src/base/origins.ts';
import type { Endpoint, ServerModel } from '../../control/page-control.ts';

/** The provider that the sample agents name. */
const providerId = 'default';

/** The secret that holds the key of the connected model server. */
export const keySecret = 'endpoint-key';

/** The choice; it ends with the worker, as its key does. */
export interface ModelChoice {
  /** The next run uses this endpoint; `undefined`: the provider of the registry. */
  readonly use: (endpoint: Endpoint | undefined) => void;
  /** The next run uses the model of the browser, over a port to the page. */
  readonly useBrowser: (port: MessagePort) => void;
  /** The models of providers of kind `custom`. */
  readonly custom: () => Readonly<Record<string, CustomModel>>;
  /** The next run uses this model, with the key that was given for its server before. Returns false when there is none. */
  readonly useModel: (model: ServerModel) => boolean;
  /** What was given for a server before. */
  readonly accessTo: (baseUrl: string) => Omit<Endpoint, 'model'> | undefined;
  /** The endpoint in use, without its key. */
  readonly endpoint: () => Pick<Endpoint, 'baseUrl' | 'model'> | undefined;
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
  let used: Pick<Endpoint, 'baseUrl' | 'model'> | undefined;
  let connected: Catalog | undefined;
  let browser: { readonly port: MessagePort; readonly model: LanguageModel } | undefined;
  const endBrowser = (): void => {
    browser?.port.close();
    browser = undefined;
  };
  const given = new Map<string, Omit<Endpoint, 'model'>>();
  function use(endpoint: Endpoint | undefined): void {
    endBrowser();
    used = endpoint && { baseUrl: endpoint.baseUrl, model: endpoint.model };
    const origin = endpoint && originOf(endpoint.baseUrl);
    origins = origin === undefined ? [] : [origin];
    const key = endpoint?.apiKey;
    secrets.set(keySecret, key === undefined ? undefined : { value: key, origins });
    connected = endpoint && staticCatalog({ agents: [], providers: [providerOf(endpoint)] });
    if (endpoint) given.set(endpoint.baseUrl, endpoint);
    onChanged();
  }
  return {
    use,
    useModel(model) {
      const access = given.get(model.baseUrl);
      if (access) use({ ...access, ...model });
      return access !== undefined;
    },
    accessTo: (baseUrl) => given.get(baseUrl),
    custom() {
      const model = browser?.model;
      return model ? { [providerId]: () => model } : {};
    },
    useBrowser(port) {
      endBrowser();
      used = undefined;
      browser = { port, model: browserOnUse(port) };
      origins = [];
      secrets.set(keySecret, undefined);
      connected = staticCatalog({ agents: [], providers: [{ id: providerId, kind: 'custom', model: 'browser' }] });
      onChanged();
    },
    endpoint: () => used,
    origins: () => origins,
    over: (registry) => ({
      ...registry,
      provider: async (...query) => await connected?.provider(...query) ?? await registry.provider(...query),
    }),
  };
}

function providerOf({ baseUrl, model, apiKey, secretId = apiKey === undefined ? undefined : keySecret }: Endpoint) {
  const secret = secretId === undefined ? undefined : { id: secretId };
  return { id: providerId, kind: 'openai-compatible' as const, baseUrl, model, ...(secret && { secret }) };
}

/** The code of the port is loaded with the first call. */
function browserOnUse(port: MessagePort): LanguageModel {
  const model = loadOnce(async () => (await import('../../../adapters/models/browser/worker.ts')).browserModel(port));
  return {
    specificationVersion: 'v4',
    provider: 'browser',
    modelId: 'browser',
    supportedUrls: {},
    doStream: async (call) => await (await model()).doStream(call),
    doGenerate: async (call) => await (await model()).doGenerate(call),
  };
}
