/** The nodes of a tree as resources of an MCP server. */

import type { Principal } from '../../../../src/base/principal.ts';
import type { Tree, TreeNode } from '../../../../src/tree/tree.ts';
import type { McpResource, McpResources } from './resource.ts';
import { compileTemplate } from './template.ts';

/** Which trees are served. */
export interface TreeResourcesOptions {
  /** Returns the tree that the principal may read; `undefined` where it has none. */
  readonly tree: (principal: Principal) => Promise<Tree | undefined> | Tree | undefined;
  /** The name of a node in listings; its id when absent. */
  readonly nameOf?: (node: TreeNode) => string;
  /** Distinguishes several trees of a server: `pinnace://tree/<id>/<node>`; `main` when absent. */
  readonly id?: string;
}

/** The most children that the contents of a node name. */
const maxChildren = 1000;

/**
 * Returns the nodes of a tree: `pinnace://tree/<id>/<node>` has a node as JSON, with its payload and the ids of its children. Nodes can
 * be watched.
 *
 * @example
 * treeResources({ tree: ({ tenant }) => treeOf(tenant), nameOf: ({ payload }) => payload.title })
 */
export function treeResources({ tree: treeOf, nameOf, id = 'main' }: TreeResourcesOptions): McpResources {
  const prefix = `pinnace://tree/${encodeURIComponent(id)}/`;
  const uriTemplate = `${prefix}{node}`;
  const match = compileTemplate(uriTemplate);
  const nodeOf = (uri: string): string | undefined => match(uri)?.['node'];
  const toResource = (node: TreeNode): McpResource => {
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
        items: ids.flatMap((nodeId) => nodesOf(tree, nodeId).map(toResource)),
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

/** Returns ids in pre-order. */
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
