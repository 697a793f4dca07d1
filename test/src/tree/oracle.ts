/** A tree as plain as can be, to check the real one against: objects, recursion, everything computed anew. */

import type { TreeRow } from '../../../src/tree/index.ts';

export interface OracleNode {
  readonly nodeId: string;
  parent: OracleNode | null;
  children: OracleNode[];
  payload: Readonly<Record<string, unknown>>;
}

export class Oracle {
  root!: OracleNode;
  readonly nodes = new Map<string, OracleNode>();

  constructor(rows: readonly TreeRow[]) {
    for (const { nodeId, parentId, payload } of rows) {
      const parent = parentId === null ? null : this.nodes.get(parentId)!;
      const node = { nodeId, parent, children: [], payload };
      if (parent) parent.children.push(node);
      else this.root = node;
      this.nodes.set(nodeId, node);
    }
  }

  list(node: OracleNode = this.root): OracleNode[] {
    return [node, ...node.children.flatMap((child) => this.list(child))];
  }

  rows(): unknown[] {
    return this.list().map(({ nodeId, parent, payload }) => ({ nodeId, parentId: parent?.nodeId ?? null, payload }));
  }

  depth({ parent }: OracleNode): number {
    return parent ? this.depth(parent) + 1 : 0;
  }

  isInside(node: OracleNode | null, ancestor: OracleNode): boolean {
    return node !== null && (node === ancestor || this.isInside(node.parent, ancestor));
  }

  insert(nodeId: string, parentId: string, beforeId: string | null): void {
    const parent = this.nodes.get(parentId)!;
    const node = { nodeId, parent, children: [], payload: { name: nodeId } };
    this.nodes.set(nodeId, node);
    this.place(node, parent, beforeId);
  }

  remove(nodeId: string): void {
    const node = this.nodes.get(nodeId)!;
    for (const { nodeId: gone } of this.list(node)) this.nodes.delete(gone);
    node.parent!.children.splice(node.parent!.children.indexOf(node), 1);
  }

  move(nodeId: string, parentId: string, beforeId: string | null): void {
    const node = this.nodes.get(nodeId)!;
    node.parent!.children.splice(node.parent!.children.indexOf(node), 1);
    this.place(node, this.nodes.get(parentId)!, beforeId);
  }

  private place(node: OracleNode, parent: OracleNode, beforeId: string | null): void {
    const at = parent.children.findIndex((child) => child.nodeId === beforeId);
    parent.children.splice(at < 0 ? parent.children.length : at, 0, node);
    node.parent = parent;
  }
}

export class OracleView {
  readonly flags = new Map<string, boolean>();

  readonly tree: Oracle;
  readonly defaultExpanded: boolean;

  constructor(tree: Oracle, defaultExpanded: boolean) {
    this.tree = tree;
    this.defaultExpanded = defaultExpanded;
  }

  isExpanded({ nodeId }: OracleNode): boolean {
    return this.flags.get(nodeId) ?? this.defaultExpanded;
  }

  setAll(node: OracleNode, expanded: boolean): void {
    for (const { nodeId } of this.tree.list(node)) this.flags.set(nodeId, expanded);
  }

  visible(node: OracleNode = this.tree.root): OracleNode[] {
    const below = this.isExpanded(node) ? node.children.flatMap((child) => this.visible(child)) : [];
    return [node, ...below];
  }
}
