/** `pinnace/tree`: the tree that people and agents share, and its tools. */

export type { TreeChange } from './nodes/change.ts';
export type { Mutation, Origin, TreeEvent } from './nodes/mutation.ts';
export type { Payload } from './nodes/node-store.ts';
export type { TreeOp } from './nodes/op.ts';
export type { PayloadType, PayloadTypes } from './nodes/payload-types.ts';
export type { Place } from './nodes/placing.ts';
export type { TreeRow } from './nodes/row.ts';
export { type OpenTree, openTree, type OpenTreeOptions } from './stored/open-tree.ts';
export type { AuditEntry, AuditSink } from './tools/call/audit.ts';
export type { TreeLimits } from './tools/limits.ts';
export type { TreeOutcome } from './tools/output.ts';
export type { TreeErrorCode, TreeErrorData } from './tools/tool-error.ts';
export { type TreeTools, treeTools, type TreeToolsOptions } from './tools/tree-tools.ts';
export { createTree, type CreateTreeOptions, type Tree, type TreeNode } from './tree.ts';
export type { TreeView, ViewRow } from './views/tree-view.ts';
