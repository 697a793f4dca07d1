/** The tools of a tree for one agent: the contract that the run, MCP and pages use as it is. */

import * as v from 'valibot';
import { checkKnownOptions, optional } from '../base/check-options.ts';
import { PinnaceError } from '../base/errors.ts';
import { isRecord } from '../base/is-record.ts';
import { ToolDefinition } from '../base/schema.ts';
import { createReport, type OnError } from '../events/report.ts';
import type { ToolSource, ToolSourceCall } from '../tools/implement.ts';
import { paramsSchemaOf } from '../tools/make-tool.ts';
import type { AuditEntry, AuditSink } from './desk.ts';
import { exportTool } from './export-tool.ts';
import { importTool } from './import-view.ts';
import { readTools, searchTool, viewTools } from './read-tools.ts';
import {
  type Caller,
  defaultTreeLimits,
  deskOf,
  sessionOf,
  type Shape,
  type ToolSpec,
  toTreeError,
  type TreeLimits,
  type TreeOutcome,
} from './tool-spec.ts';
import { versionOf } from './structure.ts';
import { takeRate, TreeCall } from './tree-call.ts';
import { coreOf, type Tree } from './tree.ts';
import { undoTool, writeTools } from './write-tools.ts';

/** Who calls the tools, and what that one may. */
export interface TreeToolsOptions {
  /** Has its own view of the tree, rate and idempotency keys. */
  readonly agentId: string;
  /** A reader reads; an editor changes, too. */
  readonly role: 'reader' | 'editor';
  /** These tools change nothing. */
  readonly readOnly?: boolean;
  /** Who may export; the specification lists `export_view` with the changing tools. */
  readonly exportRole?: 'reader' | 'editor';
  /** Whose changes `undo` takes back: those of this agent (`own`, the default), or of everyone (`any`), as for the owner of a tree. */
  readonly undo?: 'own' | 'any';
  /** Bounds of calls, in place of the defaults. */
  readonly limits?: Partial<TreeLimits>;
  /** The shape of pages where a call names none. A model is best served with `columns`. */
  readonly shape?: Shape;
  /** Gets an entry for every changing call, whatever its outcome. */
  readonly audit?: AuditSink;
  /** Receives what a call throws and its error does not contain, unless the caller takes it, as a runtime does. */
  readonly onError?: OnError;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** The tools of a tree for one agent. */
export interface TreeTools extends ToolSource {
  call(name: string, input: unknown, options?: ToolSourceCall): Promise<TreeOutcome>;
  undo(output: unknown, options?: ToolSourceCall): Promise<TreeOutcome>;
  /** The latest entries about all agents of the tree. */
  auditTrail(options?: { readonly after?: number; readonly limit?: number }): readonly AuditEntry[];
}

/**
 * Creates the tools. `call` never throws. A call is checked in this order, and the first check that fails is the answer: the rate
 * (`rate_limited`; every call counts), role and read-only mode (`forbidden`), the arguments (`invalid_argument`), a repeat by its
 * idempotency key (the stored result), the nodes it names (`not_found`), the version it has read (`conflict`), what it means
 * (`invalid_argument`).
 *
 * @throws PinnaceError `invalid_argument` for a role that does not exist or something that is no tree.
 * @example
 * const tools = treeTools(tree, { agentId: 'helper', role: 'editor' });
 * const page = await tools.call('get_view', { rootNodeId: 'root' });
 * if (page.ok) await tools.call('expand_node', { nodeId: 'a', versionToken: page.output.version });
 */
export function treeTools(tree: Tree, options: TreeToolsOptions): TreeTools {
  checkKnownOptions('create the tools of the tree', options, {
    agentId: ['text', 'a name of the caller'],
    role: ['text', '"reader" or "editor"'],
    ...optional('readOnly', 'exportRole', 'undo', 'limits', 'shape', 'audit', 'onError', 'now'),
  });
  const { agentId, role, readOnly = false, exportRole = 'editor', undo = 'own', limits, audit } = options;
  const { shape = 'rows', now = Date.now } = options;
  if (role !== 'reader' && role !== 'editor') {
    throw new PinnaceError(
      'invalid_argument',
      `Cannot make tools for the role "${String(role)}": use "reader" or "editor"`,
    );
  }
  const own = createReport(options.onError);
  const core = coreOf(tree);
  const desk = deskOf(core);
  const caller: Caller = {
    core,
    desk,
    agentId,
    role,
    readOnly,
    exportRole,
    undo,
    limits: { ...defaultTreeLimits, ...limits },
    shape,
    audit,
    now,
  };
  return {
    get definitions(): readonly ToolDefinition[] {
      return toolDefinitions();
    },
    async call(name, input, { report = (cause: unknown) => own(cause, { kind: 'tool', id: name }), ...given } = {}) {
      const spec = toolSpecs.get(name);
      return spec ? await new TreeCall(caller, spec, { input, report, ...given }).outcome() : callUnknown(caller, name);
    },
    // The version that a change returned names it. What is in its way, the tool looks up itself.
    undo(output, given) {
      const version = isRecord(output) ? output['version'] : undefined;
      const versionToken = versionOf(core, sessionOf(desk, agentId));
      return this.call(undoTool.name, { version, versionToken }, given);
    },
    auditTrail: (range) => desk.audit.list(range),
  };
}

function callUnknown(caller: Caller, name: unknown): TreeOutcome {
  try {
    takeRate(caller, 'reads');
    throw new PinnaceError('not_found', `Cannot call tool "${String(name).slice(0, 64)}": the tree has no such tool`, {
      details: { reason: 'unknown_tool' },
    });
  } catch (error) {
    return { ok: false, error: toTreeError(error) };
  }
}

const toolSpecs: ReadonlyMap<string, ToolSpec> = new Map(
  [...readTools, searchTool, ...viewTools, ...writeTools, exportTool, importTool, undoTool].map((
    spec,
  ) => [spec.name, spec]),
);

let definitions: readonly ToolDefinition[] | undefined;

function toolDefinitions(): readonly ToolDefinition[] {
  definitions ??= [...toolSpecs.values()].map(({ name, description, annotations, input, kind }) =>
    v.parse(ToolDefinition, {
      id: name,
      name,
      type: 'builtin',
      description,
      annotations,
      category: 'tree',
      ...(kind === 'tree' && { undoable: true }),
      paramsSchema: paramsSchemaOf(name, input),
    })
  );
  return definitions;
}
