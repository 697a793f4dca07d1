/** A small company as a tree, and agents that work on it. */

import * as v from 'valibot';
import { expect } from 'vitest';
import { createTree, type Tree, type TreeTools, treeTools } from '../../../src/index.ts';
import type { CreateTreeOptions } from '../../../src/tree/index.ts';
import type { TreeOutcome, TreeToolsOptions } from '../../../src/tree/index.ts';

const schema = v.looseObject({ name: v.string() });
export const companyTypes = {
  unit: { schema, defaults: { open: true } },
  person: { schema: v.looseObject({ name: v.string(), email: v.optional(v.string()) }), selfPayload: true },
};

const rows = [
  ['root', null, 'unit', { name: 'Company', meta: { owner: 'Ada', tags: ['top', 'all'] } }],
  ['sales', 'root', 'unit', { name: 'Sales', meta: { owner: 'Bo', budget: 10 } }],
  ['ann', 'sales', 'person', { name: 'Ann', email: 'ann@example.org' }],
  ['ben', 'sales', 'person', { name: 'Ben', email: 'ben@example.org' }],
  ['it', 'root', 'unit', { name: 'IT', meta: { owner: 'Cy', tags: ['tech'] } }],
  ['dev', 'it', 'unit', { name: 'Development', meta: { owner: 'Di' } }],
  ['eve', 'dev', 'person', { name: 'Eve', email: 'eve@example.org' }],
  ['ops', 'it', 'unit', { name: 'Operations' }],
] as const;

export function company(options: Pick<CreateTreeOptions, 'conflictScope'> = {}): Tree {
  return createTree({
    ...options,
    payloadTypes: companyTypes,
    rows: rows.map(([nodeId, parentId, payloadType, payload]) => ({ nodeId, parentId, payloadType, payload })),
  });
}

export function editor(tree: Tree = company(), options: Partial<TreeToolsOptions> = {}): TreeTools {
  return treeTools(tree, { agentId: 'editor', role: 'editor', ...options });
}

/** What tests look into: a field that is not there is a failure of the expectation, not of the compiler. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Loose = Record<string, any>;

type Output = Extract<TreeOutcome, { ok: true }>['output'];
type Failure = Extract<TreeOutcome, { ok: false }>['error'];

/** The output of a call that must succeed. What JSON or a structured clone would lose is a failure, too. */
export async function ok(tools: TreeTools, name: string, input: object): Promise<Output & Loose> {
  const outcome = await tools.call(name, input);
  expect(outcome).toMatchObject({ ok: true });
  expect(structuredClone(outcome)).toEqual(outcome);
  expect(JSON.parse(JSON.stringify(outcome))).toEqual(outcome);
  return (outcome as { output: Output }).output;
}

/** The error of a call that must fail. */
export async function fails(tools: TreeTools, name: string, input: unknown): Promise<Failure> {
  const outcome = await tools.call(name, input);
  expect(outcome).toMatchObject({ ok: false });
  expect(JSON.parse(JSON.stringify(outcome))).toEqual(outcome);
  return (outcome as { error: Failure }).error;
}

/** The latest version for this agent. */
export async function version(tools: TreeTools): Promise<string> {
  return (await ok(tools, 'get_node', { nodeId: 'root', includedProperties: ['none'] })).version;
}

/** A change with the latest version. */
export async function change(tools: TreeTools, name: string, input: object): Promise<Output & Loose> {
  return await ok(tools, name, { ...input, versionToken: await version(tools) });
}

export function idsOf(page: Loose): string[] {
  return page.rows.map((row: { nodeId: string }) => row.nodeId);
}
