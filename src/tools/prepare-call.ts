/** Prepares a tool call: checks its input, then its permission, each once. */

import { PinnaceError } from '../base/errors.ts';
import { invalid, pathText } from '../base/parse.ts';
import type { Authorize } from '../contracts/authorize.ts';
import { refusal } from '../permission/authorize.ts';
import { type ApprovalTerms, type CallPermit, type PermitFacts, ruleOnCall } from '../permission/call-permit.ts';
import { needsApproval } from './approval.ts';
import { undeclaredField } from './declared-fields.ts';
import { safeError } from './failure.ts';
import { mayAct } from './lost-call.ts';
import type { Tool } from './tool.ts';

/** A call that `invokeTool` may make, or the reason why it may not. */
export type PreparedCall =
  | { readonly ok: true; readonly permit: CallPermit }
  | {
    readonly ok: false;
    readonly error: PinnaceError;
    /** Present when a person must approve the call. `reason` is the permission hook's, where the hook demands it. */
    readonly approval?: ApprovalTerms & { readonly reason?: string };
  };

/** Who calls. */
export interface PrepareOptions extends Pick<PermitFacts, 'toolCallId' | 'agentId' | 'principal'> {
  /** Decides on the call. */
  readonly authorize: Authorize;
  /** A person has approved this very call; `by_caller`: the caller itself, who decides at once. */
  readonly approved?: boolean | 'by_caller' | undefined;
}

/** Prepares a call for `invokeTool`. Calls the permission hook for valid inputs only. Never throws. */
export async function prepareCall(
  tool: Tool,
  input: unknown,
  { authorize, approved = false, ...caller }: PrepareOptions,
): Promise<PreparedCall> {
  const { definition } = tool;
  const attempt = `Cannot call tool "${definition.id}"`;
  try {
    const checked = await checkInput(tool, input);
    const ruling = await ruleOnCall(authorize, { ...caller, tool, input }, { checked, approved });
    if (ruling.decision === 'allow') {
      if (approved || !needsApproval(definition)) return { ok: true, permit: ruling.permit };
      const error = new PinnaceError('approval_required', `${attempt}: a person must approve the call`);
      return { ok: false, error, approval: {} };
    }
    const error = refusal(ruling, attempt);
    if (ruling.decision === 'deny') return { ok: false, error };
    const { reason, approvers, fourEyes } = ruling;
    return { ok: false, error, approval: { reason, ...(approvers && { approvers }), ...(fourEyes && { fourEyes }) } };
  } catch (thrown) {
    return { ok: false, error: safeError(tool, thrown) };
  }
}

async function checkInput(tool: Tool, input: unknown): Promise<unknown> {
  const { id, limits: { inputLength = Infinity } = {} } = tool.definition;
  if (inputLength !== Infinity && (JSON.stringify(input)?.length ?? 0) > inputLength) {
    throw new PinnaceError('invalid_argument', `Cannot call tool "${id}": its input is longer than ${inputLength}`, {
      details: { reason: 'input_too_large', inputLength },
    });
  }
  const what = `the input of tool "${id}"`;
  const made = tool.check(input);
  const checked = made instanceof Promise ? await made : made; // mostly at once
  if (!checked.ok) throw invalid(what, checked.issues);
  // A tool that may act gets no field that its schema neither declares nor permits.
  const undeclared = mayAct(tool.definition) ? undeclaredField(input, tool.definition.paramsSchema) : undefined;
  if (!undeclared) return checked.input;
  throw invalid(what, [{ path: pathText(undeclared), message: 'is not declared by the tool' }], 'undeclared_field');
}
