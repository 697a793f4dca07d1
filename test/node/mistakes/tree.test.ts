import * as v from 'valibot';
import { createTree, openTree, treeTools } from '../../../src/tree/index.ts';
import { expectMistakes, untyped } from './expect-mistakes.ts';

const payloadTypes = { task: v.object({ name: v.string() }) };
const tree = () => createTree({ payloadTypes });

expectMistakes('the tree', [
  [
    'no options',
    () => createTree(untyped(undefined)),
    'Cannot create the tree: the options are missing; pass { payloadTypes }',
  ],
  [
    'no types',
    () => createTree(untyped({})),
    'Cannot create the tree: "payloadTypes" is missing; pass a schema for each type of node, such as { task: v.object({ … }) }',
  ],
  [
    'a JSON Schema as a type',
    () => createTree(untyped({ payloadTypes: { task: { type: 'object' } } })),
    'Cannot create the tree: the payload type "task" takes a schema of valibot, such as v.object({ … })',
  ],
  [
    'a nested document as rows',
    () => createTree(untyped({ payloadTypes, rows: { id: 'root', children: [] } })),
    'Cannot create the tree: "rows" is an object; pass an array of rows, such as [{ nodeId, parentId: null, payloadType, payload }]',
  ],
  [
    'nested rows',
    () => createTree(untyped({ payloadTypes, rows: [{ id: 'root', children: [] }] })),
    'Cannot read the rows of the tree: "rows.0.nodeId" must be text of 1 to 128; nothing was changed',
  ],
  [
    'one change',
    () => tree().apply(untyped({ kind: 'remove' })),
    'Cannot change the tree: "changes" is an object; pass an array of changes',
  ],
  [
    'an unknown change',
    () => tree().apply(untyped([{ kind: 'add' }])),
    'Cannot change the tree: "kind" must be "insert", "remove", "move", "payload" or "content"',
  ],
  [
    'tools without options',
    () => treeTools(tree(), untyped(undefined)),
    'Cannot create the tools of the tree: the options are missing; pass { agentId, role }',
  ],
  [
    'no storage',
    () => openTree(untyped({ payloadTypes })),
    'Cannot open the tree: "storage" is missing; pass a storage, such as memoryStorage()',
  ],
]);
