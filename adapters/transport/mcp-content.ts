/** `pinnace/transport/mcp-content`: resources and prompts for the clients of an MCP server. */

import { checkNames, optional } from '../../src/base/check-options.ts';
import type { Principal } from '../../src/base/principal.ts';
import type { Grounding } from '../../src/grounding/create-grounding.ts';
import type { Tree, TreeNode } from '../../src/tree/tree.ts';
import {
  compileTemplate,
  listedPart,
  type McpCompletion,
  type McpReader,
  type McpResource,
  type McpResourceContent,
  type McpResources,
  type McpResourceTemplate,
} from './mcp-server/host.ts';

export type {
  McpCompletion,
  McpPage,
  McpPageOptions,
  McpPrompt,
  McpPromptArgument,
  McpPromptMessage,
  McpPrompts,
  McpReader,
  McpResource,
  McpResourceContent,
  McpResources,
  McpResourceTemplate,
} from './mcp-server/host.ts';

type Contents = readonly McpResourceContent[] | undefined;

/** A resource, and the way to read it. */
export interface ListedResource extends McpResource {
  /** Returns the contents; `undefined` for a caller who may not know of the resource. */
  readonly read: (reader: McpReader) => Promise<Contents> | Contents;
  /** Calls `onChange` after changes, until the signal aborts. Absent: the resource cannot be watched. */
  readonly watch?: (options: { readonly signal: AbortSignal; readonly onChange: () => void }) => void;
}

/**
 * Returns resources that every caller may read. For those of a tenant, write `McpResources` of your own.
 *
 * @example
 * listedResources([{ uri: 'docs://terms', name: 'Terms', mimeType: 'text/markdown', read: () => [{ text: terms }] }])
 */
export function listedResources(resources: readonly ListedResource[]): McpResources {
  const byUri = new Map(resources.map((resource) => [resource.uri, resource]));
  const watchListed: McpResources['watch'] = (uri, { signal, onChange }) => {
    const watch = byUri.get(uri)?.watch;
    watch?.({ signal, onChange });
    return watch !== undefined;
  };
  return {
    list: (_, page) => listedPart(resources)(page),
    read: async (uri, reader) => {
      const found = byUri.get(uri);
      const contents = await found?.read(reader);
      return contents?.map((content) => ({
        ...found?.mimeType !== undefined && { mimeType: found.mimeType },
        ...content,
      }));
    },
    ...(resources.some(({ watch }) => watch !== undefined) && { watch: watchListed }),
  };
}

/** The values of a template's variables. */
export type TemplateValues = Readonly<Record<string, string>>;

/** A family of resources. */
export interface TemplateResources extends McpResourceTemplate {
  /** Returns the contents; `undefined` for values that name nothing of the caller's. */
  readonly read: (values: TemplateValues, reader: McpReader) => Promise<Contents> | Contents;
  /** Returns values for a variable. */
  readonly complete?: (wanted: McpCompletion, reader: McpReader) => Promise<readonly string[]> | readonly string[];
}

/**
 * Returns the resources that a template describes. A value is decoded, is never empty, `.` or `..`, and has no `/`, `\` and no control
 * characters.
 *
 * @throws PinnaceError `invalid_argument` (`template_not_supported`) for a template with operators.
 * @example
 * templateResources({ uriTemplate: 'orders://{id}', name: 'Order', read: ({ id }, { principal }) => readOrder(principal.tenant, id) })
 */
export function templateResources(options: TemplateResources): McpResources {
  checkNames(
    'create the resources',
    options,
    optional('read', 'complete', 'uriTemplate', 'name', 'title', 'description', 'mimeType'),
  );
  const { read, complete, ...template } = options;
  const match = compileTemplate(template.uriTemplate);
  const { mimeType } = template;
  return {
    templates: [template],
    async read(uri, reader) {
      const values = match(uri);
      const contents = values && await read(values, reader);
      return contents?.map((content) => ({ ...mimeType !== undefined && { mimeType }, ...content }));
    },
    ...(complete && { complete: (_, wanted, reader) => complete(wanted, reader) }),
  };
}

const query = 'pinnace://source/{source}?q={query}';
const source = 'pinnace://source/{source}';
const topK = 10;

/**
 * Returns the data sources that the caller may query: `pinnace://source/<id>` has the facts of one, and
 * `pinnace://source/<id>?q=<query>` the 10 best hits of a query. Rights, tenants and events are those of `grounding.retrieve`.
 *
 * @example
 * createHandler(runtime, { authenticator, mcp: { tools, storage, resources: [groundingResources(grounding)] } });
 */
export function groundingResources(grounding: Grounding): McpResources {
  const [matchQuery, matchSource] = [compileTemplate(query), compileTemplate(source)];
  const readable = ({ principal, signal, span }: McpReader) => grounding.readable({ principal, signal, span });
  const find = async (id: string, reader: McpReader) => (await readable(reader)).find((one) => one.id === id);
  const description = 'The best hits of a query to a data source';
  return {
    templates: [{ uriTemplate: query, name: 'Query of a data source', description, mimeType: 'text/plain' }],
    async list(reader, page) {
      const all = (await readable(reader)).map(({ id }) => toSourceResource(id, grounding.descriptions[id]));
      return await listedPart(all)(page);
    },
    async read(uri, reader) {
      const { principal, signal, span } = reader;
      const asked = matchQuery(uri);
      if (asked) {
        const { source: id = '', query: text = '' } = asked;
        if (!await find(id, reader)) return undefined;
        const request = { dataSourceId: id, query: text, topK };
        const { hits } = await grounding.retrieve(request, { principal, signal, span });
        const none = { mimeType: 'text/plain', text: 'No hits' };
        const contents = hits.map(({ content, title, source: { uri: origin } }) => {
          return {
            uri: origin,
            mimeType: 'text/plain',
            text: title === undefined ? content : `${title}\n\n${content}`,
          };
        });
        return contents.length === 0 ? [none] : contents;
      }
      const found = await find(matchSource(uri)?.['source'] ?? '', reader);
      if (!found) return undefined;
      const { items, version } = await found.stats(principal.tenant, signal);
      const facts = { id: found.id, kind: found.kind, description: grounding.descriptions[found.id], items, version };
      return [{ mimeType: 'application/json', text: JSON.stringify(facts) }];
    },
    async complete(_, { argument, value }, reader) {
      if (argument !== 'source') return [];
      return (await readable(reader)).map(({ id }) => id).filter((id) => id.startsWith(value));
    },
  };
}

function toSourceResource(id: string, description: string | undefined): McpResource {
  const uri = `pinnace://source/${encodeURIComponent(id)}`;
  return { uri, name: id, mimeType: 'application/json', ...(description !== undefined && { description }) };
}

/** Which trees are served. */
export interface TreeResourcesOptions {
  /** Returns the tree that the principal may read; `undefined` where it has none. */
  readonly tree: (principal: Principal) => Promise<Tree | undefined> | Tree | undefined;
  /** The name of a node in listings; its id when absent. */
  readonly nameOf?: (node: TreeNode) => string;
  /** Distinguishes several trees of a server: `pinnace://tree/<id>/<node>`; `main` when absent. */
  readonly id?: string;
}

const maxChildren = 1000;

/**
 * Returns the nodes of a tree: `pinnace://tree/<id>/<node>` has a node as JSON, with its payload and the ids of its children. Nodes can
 * be watched.
 *
 * @example
 * treeResources({ tree: ({ tenant }) => treeOf(tenant), nameOf: ({ payload }) => payload.title })
 */
export function treeResources(options: TreeResourcesOptions): McpResources {
  checkNames('create the resources', options, optional('tree', 'nameOf', 'id'));
  const { tree: treeOf, nameOf, id = 'main' } = options;
  const prefix = `pinnace://tree/${encodeURIComponent(id)}/`;
  const uriTemplate = `${prefix}{node}`;
  const match = compileTemplate(uriTemplate);
  const nodeOf = (uri: string): string | undefined => match(uri)?.['node'];
  const toNodeResource = (node: TreeNode): McpResource => {
    const uri = prefix + encodeURIComponent(node.nodeId);
    return { uri, name: nameOf?.(node) ?? node.nodeId, mimeType: 'application/json' };
  };
  return {
    templates: [{ uriTemplate, name: 'Tree node', mimeType: 'application/json' }],
    async list({ principal }, { limit, cursor }) {
      const tree = await treeOf(principal);
      if (!tree) return { items: [] };
      const from = cursor !== undefined && /^\d{1,9}$/.test(cursor) ? Number(cursor) : 0;
      const ids = idsOf(tree, { from, limit });
      const end = from + ids.length;
      return {
        items: ids.flatMap((nodeId) => nodesOf(tree, nodeId).map(toNodeResource)),
        ...(end < tree.size && ids.length > 0 && { nextCursor: String(end) }),
      };
    },
    async read(uri, { principal }) {
      const nodeId = nodeOf(uri);
      const tree = nodeId === undefined ? undefined : await treeOf(principal);
      const [node] = tree && nodeId !== undefined ? nodesOf(tree, nodeId) : [];
      if (!tree || !node) return undefined;
      const children = tree.children(node.nodeId, { limit: maxChildren }).map((child) => child.nodeId);
      return [{ mimeType: 'application/json', text: JSON.stringify({ ...node, children }) }];
    },
    async complete(_, { value }, { principal }) {
      const tree = await treeOf(principal);
      return tree ? idsOf(tree, { limit: 101, prefix: value }) : [];
    },
    async watch(uri, { principal, signal, onChange }) {
      const nodeId = nodeOf(uri);
      const tree = nodeId === undefined ? undefined : await treeOf(principal);
      if (!tree || nodeId === undefined || !tree.get(nodeId)) return false;
      let last = JSON.stringify(tree.get(nodeId));
      const unsubscribe = tree.subscribe(() => {
        const next = JSON.stringify(tree.get(nodeId));
        if (next === last) return;
        last = next;
        onChange();
      });
      signal.addEventListener('abort', unsubscribe, { once: true });
      return true;
    },
  };
}

function idsOf(
  tree: Tree,
  { from = 0, limit, prefix = '' }: { readonly from?: number; readonly limit: number; readonly prefix?: string },
): string[] {
  const ids: string[] = [];
  let at = 0;
  for (const { nodeId } of tree.rows()) {
    if (ids.length >= limit) break;
    if (at >= from && nodeId.startsWith(prefix)) ids.push(nodeId);
    at++;
  }
  return ids;
}

function nodesOf(tree: Tree, nodeId: string): TreeNode[] {
  const node = tree.get(nodeId);
  return node ? [node] : [];
}
