/** The tools of a tree for one agent: the contract that the run, MCP and pages use as it is. */

import { checkOptions } from '../../base/check-options.ts';
import { PinnaceError } from '../../base/errors.ts';
import type { ToolDefinition } from '../../base/schema.ts';
import type { OnError } from '../../events/on-error.ts';
import { createReport } from '../../events/report.ts';
import type { ToolSource, ToolSourceCall } from '../../tools/implement.ts';
import type { AuditEntry, AuditSink } from './call/audit.ts';
import { callTool } from './call/call-tool.ts';
import type { Caller } from './caller.ts';
import { defaultTreeLimits, type TreeLimits } from './limits.ts';
import { deskOf } from './session.ts';
import type { Shape } from './pages/shape.ts';
import { toolDefinitions, toolSpecs } from './tool-definitions.ts';
import type { TreeOutcome } from './output.ts';
import { coreOf, type Tree } from '../tree.ts';

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
  checkOptions('create the tools of the tree', options, {
    agentId: ['text', 'a name of the caller'],
    role: ['text', '"reader" or "editor"'],
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
    call: (name, input, { signal, span, report = (cause: unknown) => own(cause, { kind: 'tool', id: name }) } = {}) =>
      callTool(caller, { spec: toolSpecs.get(name), name, input, signal, span, report }),
    auditTrail: (range) => desk.audit.list(range),
  };
}
