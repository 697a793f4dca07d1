/** The inputs of the tree's tools, as valibot schemas. Their JSON Schemas are what models see. */

import * as v from 'valibot';
import { maxIdLength } from './payload-types.ts';

const NodeId = v.pipe(v.string(), v.minLength(1), v.maxLength(maxIdLength));
const Paths = v.optional(v.array(v.pipe(v.string(), v.minLength(1))));
const Count = v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)));
const PageToken = v.optional(v.pipe(v.string(), v.maxLength(2048)));
const Shape = v.optional(v.picklist(['rows', 'columns', 'outline', 'nested']));
const Index = v.optional(v.pipe(v.number(), v.integer(), v.minValue(0)));

const filter = { includedProperties: Paths, excludedProperties: Paths };
const page = { pageToken: PageToken, shape: Shape, ...filter };
const place = { before: v.optional(NodeId), after: v.optional(NodeId), index: Index };
const mutation = {
  versionToken: v.optional(v.pipe(v.string(), v.maxLength(200))),
  idempotencyKey: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(200))),
};

export const GetNode = v.strictObject({ nodeId: NodeId, ...filter });

export const GetView = v.strictObject({
  rootNodeId: NodeId,
  includeViewRoot: v.optional(v.boolean()),
  defaultExpanded: v.optional(v.boolean()),
  depthLimit: Index,
  pageSize: Count,
  ...page,
});

const SearchFilter = v.strictObject({
  path: v.pipe(v.string(), v.minLength(1)),
  op: v.picklist(['eq', 'contains']),
  value: v.unknown(),
});

export const Search = v.strictObject({
  rootNodeId: NodeId,
  filters: v.pipe(v.array(SearchFilter), v.minLength(1)),
  caseSensitive: v.optional(v.boolean()),
  limit: Count,
  pageToken: PageToken,
  ...filter,
});

export const ListChildren = v.strictObject({ nodeId: NodeId, limit: Count, ...page });

export const OneNode = v.strictObject({ nodeId: NodeId, ...mutation });
export const OneRoot = v.strictObject({ rootNodeId: NodeId, ...mutation });

const addChild = {
  parentNodeId: v.nullable(NodeId),
  payloadType: v.string(),
  payloadProps: v.optional(v.record(v.string(), v.unknown())),
  nodeId: v.optional(NodeId),
  ...place,
};
const updateProperty = {
  nodeId: NodeId,
  propertyName: v.pipe(v.string(), v.minLength(1)),
  newValue: v.optional(v.unknown()),
  unset: v.optional(v.boolean()),
};
const removeNode = { nodeId: NodeId };
const moveNode = { nodeId: NodeId, newParentId: NodeId, ...place };

export const AddChild = v.strictObject({ ...addChild, ...mutation });
export const UpdateProperty = v.strictObject({ ...updateProperty, ...mutation });
export const RemoveNode = v.strictObject({ ...removeNode, ...mutation });
export const MoveNode = v.strictObject({ ...moveNode, ...mutation });

/** What a batch may hold: the changes of the tree, each with the arguments of its tool. */
export const Operation = v.variant('tool', [
  v.strictObject({ tool: v.literal('add_child'), ...addChild }),
  v.strictObject({ tool: v.literal('update_payload_property'), ...updateProperty }),
  v.strictObject({ tool: v.literal('remove_node'), ...removeNode }),
  v.strictObject({ tool: v.literal('move_node'), ...moveNode }),
]);
export type Operation = v.InferOutput<typeof Operation>;

export const Batch = v.strictObject({ operations: v.pipe(v.array(Operation), v.minLength(1)), ...mutation });

export const Undo = v.strictObject({ version: v.pipe(v.string(), v.minLength(1), v.maxLength(200)), ...mutation });

export const ExportView = v.strictObject({
  rootNodeId: NodeId,
  includeViewRoot: v.optional(v.boolean()),
  format: v.optional(v.picklist(['nested', 'flat'])),
  ...mutation,
});

export const ImportView = v.strictObject({
  /** Text, or the data itself: what `export_view` returned. */
  viewJson: v.unknown(),
  payloadTypes: v.optional(v.array(v.string())),
  rootLookupStrategy: v.optional(v.picklist(['byNodeId', 'replaceSubtree'])),
  rootNodeId: v.optional(NodeId),
  dryRun: v.optional(v.boolean()),
  ...mutation,
});
