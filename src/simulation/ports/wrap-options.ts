/** The ports of a composition: each of their calls is a step. */

import type { Catalog } from '../../contracts/catalog.ts';
import type { McpConnection, McpConnector } from '../../contracts/mcp/mcp-connector.ts';
import type { Secret } from '../../base/secret.ts';
import type { SecretSource } from '../../contracts/secret-source.ts';
import type { CreateRuntimeOptions } from '../../create-runtime.ts';
import { wrapPort } from '../faulty.ts';
import type { PortParts } from './port-parts.ts';
import { wrapModels } from './wrap-models.ts';
import { isStorage, wrapStorage } from './wrap-storage.ts';
import { wrapTools } from './wrap-tools.ts';

/** Returns any port. A storage is checked as well. */
export function wrapAny<P extends object>(name: string, port: P, parts: PortParts): P {
  return isStorage(port) ? wrapStorage(name, port, parts) : wrapPort(name, port, parts.instance);
}

/** Returns what a runtime is composed of, with faults at every port, virtual time and a sink that observes it. */
export function wrapOptions<O extends CreateRuntimeOptions>(options: O, parts: PortParts): O {
  const { instance, observed } = parts;
  const wrapped: CreateRuntimeOptions = {
    ...options,
    catalog: wrapCatalog(options.catalog, parts),
    models: wrapModels(options.models, parts),
    storage: wrapAny('storage', options.storage, parts),
    ...(options.blobs && { blobs: wrapAny('blobs', options.blobs, parts) }),
    ...(options.secrets && { secrets: wrapSecrets(options.secrets, parts) }),
    ...(options.egress && { egress: wrapAny('egress', options.egress, parts) }),
    ...(options.sandbox && { sandbox: wrapAny('sandbox', options.sandbox, parts) }),
    ...(options.mcp && { mcp: wrapMcp(options.mcp, parts) }),
    ...(options.authorize && { authorize: wrapAny('authorize', options.authorize, parts) }),
    ...(options.rerank && { rerank: wrapAny('rerank', options.rerank, parts) }),
    ...(options.tools && { tools: wrapTools(options.tools, parts) }),
    sinks: [
      ...(options.sinks ?? [() => undefined]).map((sink) => wrapAny('sink', sink, parts)),
      (event) => void (instance.isDead() || observed.events.push(event)),
    ],
    now: instance.now,
  };
  return wrapped as O; // every member has the type that it had
}

function wrapCatalog(catalog: Catalog, parts: PortParts): Catalog {
  return wrapPort('catalog', catalog, {
    call: parts.instance.call,
    special: { forTenant: (forTenant) => (tenant) => wrapCatalog(forTenant(tenant) as Catalog, parts) },
  });
}

function wrapSecrets(source: SecretSource, { instance: { call }, observed }: PortParts): SecretSource {
  return wrapPort('secrets', source, {
    call: (name, args, work) =>
      call(name, args, async () => {
        const secret = await work() as Secret; // the only method resolves to one
        observed.secrets.add(secret.reveal());
        return secret;
      }),
  });
}

function wrapMcp(connector: McpConnector, { instance: { call }, observed }: PortParts): McpConnector {
  return wrapPort('mcp', connector, {
    call: (name, args, work) =>
      call(name, args, async () => {
        const connection = await work() as McpConnection; // the only method resolves to one
        observed.connections += 1;
        let isOpen = true;
        const close = (method: (...given: unknown[]) => unknown) => () => {
          if (isOpen) observed.connections -= 1;
          isOpen = false;
          return call('mcp.close', [], () => method());
        };
        return wrapPort('mcp', connection, { call, special: { close } });
      }),
  });
}
