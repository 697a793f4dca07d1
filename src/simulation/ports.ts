/** The ports of a composition: each of their calls is a step. */

import { isRecord } from '../base/is-record.ts';
import { canonicalJson } from '../base/json.ts';
import type { ToolDefinition } from '../base/schema.ts';
import type { Secret } from '../base/secret.ts';
import type { AnyLanguageModel } from '../contracts/ai-types.ts';
import type { Catalog } from '../contracts/catalog.ts';
import type { McpConnection, McpConnector } from '../contracts/mcp/mcp-connector.ts';
import type { ModelSource } from '../contracts/model-source.ts';
import type { SecretSource } from '../contracts/egress.ts';
import type { Change, CommitResult, Entry, Storage, Watchable } from '../contracts/storage.ts';
import type { CreateRuntimeOptions } from '../create-runtime.ts';
import { isToolSource, type ToolSource } from '../tools/implement.ts';
import type { Tool } from '../tools/tool.ts';
import { counted } from './faults.ts';
import { type Instance, wrapPort } from './instance.ts';
import type { Observed } from './client.ts';
import { createStorageCheck, type StorageCheck } from './storage-check.ts';
import type { VirtualTime } from './virtual-time.ts';

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
    ...(options.tools &&
      { tools: options.tools.map((tool) => isToolSource(tool) ? wrapSource(tool, parts) : wrapTool(tool, parts)) }),
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

type Method = (...args: unknown[]) => unknown;

function wrapModels(source: ModelSource, parts: PortParts): ModelSource {
  return wrapPort('models', source, {
    call: (_, __, work) => work(), // `model` is synchronous, and does no more than compose
    special: { model: (model) => (...args) => wrapModel(model(...args) as AnyLanguageModel, parts) }, // of this port
  });
}

function wrapModel(model: AnyLanguageModel, { instance: { call }, observed }: PortParts): AnyLanguageModel {
  const asked = (method: Method): Method => async (...args) => {
    const [options] = args;
    observed.prompts.push(JSON.stringify(isRecord(options) ? options['prompt'] : options) ?? '');
    const answer = await call('model.call', args, () => method(...args));
    const stream = isRecord(answer) ? answer['stream'] : undefined;
    return stream instanceof ReadableStream
      ? { ...answer as object, stream: counted(stream, observed.streams) }
      : answer;
  };
  return wrapPort('model', model, { call: (_, __, work) => work(), special: { doStream: asked, doGenerate: asked } });
}

function isStorage(port: object): port is Storage {
  return ['get', 'list', 'commit'].every((name) => typeof Reflect.get(port, name) === 'function');
}

/** Returns the storage. All instances share the check of a name. */
function wrapStorage<S extends Storage & Partial<Watchable>>(name: string, storage: S, parts: PortParts): S {
  const { observed, instance: { call }, time } = parts;
  const check = observed.storages.get(name) ?? createStorageCheck(name, time.now);
  observed.storages.set(name, check);
  parts.storages.set(name, storage);
  const checked: Partial<Storage> = checkedMethods(check, storage);
  return wrapPort(name, storage, {
    call,
    special: {
      ...Object.fromEntries(
        Object.entries(checked).map(([method, work]) => [
          method,
          () => (...args: unknown[]) =>
            call(`${name}.${method}`, args, () => (work as (...given: unknown[]) => unknown)(...args)),
        ]),
      ),
      watch: (watch) => (keys, options) => {
        const { signal } = options as Parameters<Watchable['watch']>[1]; // the port's own options
        observed.watchers += 1;
        signal.addEventListener('abort', () => (observed.watchers -= 1), { once: true });
        return watch(keys, options);
      },
    },
  });
}

function checkedMethods(check: StorageCheck, storage: Storage): Pick<Storage, 'get' | 'list' | 'commit'> {
  return {
    get: (key): Promise<Entry | undefined> => check.get(key, () => storage.get(key)),
    list: (options): Promise<Entry[]> => check.list(options, () => storage.list(options)),
    commit: (changes: readonly Change[]): Promise<CommitResult> => check.commit(changes, () => storage.commit(changes)),
  };
}

function wrapTool(tool: Tool, parts: PortParts): Tool {
  const { definition } = tool;
  const execute: Tool['execute'] = (input, context) =>
    parts.instance.call(`tool.${definition.id}`, [input, context], () => {
      count(definition, { input, toolCallId: context.toolCallId }, parts);
      return tool.execute(input, context);
    });
  const { undo } = tool;
  if (!undo) return { ...tool, execute };
  const takeBack: typeof undo.execute = (...given) =>
    parts.instance.call(`tool.${definition.id}.undo`, given, () => undo.execute(...given));
  return { ...tool, execute, undo: { ...undo, execute: takeBack } };
}

function wrapSource(source: ToolSource, parts: PortParts): ToolSource {
  return {
    definitions: source.definitions,
    async call(name, input, options) {
      const answer = parts.instance.call(`tool.${name}`, [name, input, options], () => {
        const definition = source.definitions.find((one) => one.name === name);
        if (definition) count(definition, { input, toolCallId: '' }, parts);
        return source.call(name, input, options);
      });
      return await (answer as ReturnType<ToolSource['call']>); // what a fault returns is of any type
    },
  };
}

function count(
  { id, annotations }: ToolDefinition,
  { input, toolCallId }: { readonly input: unknown; readonly toolCallId: string },
  { observed }: PortParts,
): void {
  observed.calls.push({
    tool: id,
    input: canonicalJson(input),
    toolCallId,
    acts: annotations?.readOnlyHint !== true,
    isRepeatable: annotations?.idempotentHint === true,
    phase: observed.phase,
  });
}

interface PortParts {
  readonly time: VirtualTime;
  readonly instance: Instance;
  readonly observed: Observed;
  /** The storages of this instance by name, without faults. */
  readonly storages: Map<string, Storage>;
}
