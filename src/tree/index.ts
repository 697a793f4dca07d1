/** `pinnace/tree`: the tree that people and agents share, and its tools. */

export type { AuditEntry, AuditSink } from './audit.ts';
export type { TreeChange } from './change.ts';
export type { TreeLimits } from './limits.ts';
export type { Mutation, Origin, TreeEvent } from './mutate.ts';
export type { Payload } from './node-store.ts';
export type { TreeOp } from './op.ts';
export { type OpenTree, openTree, type OpenTreeOptions } from './open-tree.ts';
export type { PayloadType, PayloadTypes } from './payload-types.ts';
export type { Place } from './placing.ts';
export type { TreeRow } from './row.ts';
export type { TreeErrorCode, TreeErrorData } from './tool-error.ts';
export { type TreeOutcome, type TreeTools, treeTools, type TreeToolsOptions } from './tree-tools.ts';
export type { TreeView, ViewRow } from './tree-view.ts';
export { createTree, type CreateTreeOptions, type Tree, type TreeNode } from './tree.ts';
