/** `pinnace/tree`: the tree that people and agents share, and its tools. */

export type { TreeChange } from './structure.ts';
export type { Mutation, Origin, TreeEvent } from './tree-core.ts';
export type { Payload } from './node-store.ts';
export type { TreeOp } from './ops.ts';
export type { PayloadType, PayloadTypes, TreeRow } from './payload-types.ts';
export type { Place } from './placing.ts';
export { type OpenTree, openTree, type OpenTreeOptions } from './open-tree.ts';
export type { AuditEntry, AuditSink } from './desk.ts';
export type { TreeErrorCode, TreeErrorData, TreeLimits, TreeOutcome } from './tool-spec.ts';
export { type TreeTools, treeTools, type TreeToolsOptions } from './tree-tools.ts';
export { createTree, type CreateTreeOptions, type Tree, type TreeNode, type TreeView, type ViewRow } from './tree.ts';
