/** What a person takes back of a run, as the runtime, its clients and pages know it. */

import type { ErrorData } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { UIMessage } from '../contracts/ai-types.ts';
import type { ShownPreview } from '../tools/call-preview.ts';

/** How much is taken back. */
export interface UndoTerms {
  /** The last step of the run that stays; 0, the default: none. */
  readonly toStep?: number;
}

/** Why a call is not taken back. */
export type UndoWhy =
  /** Nothing to do: it only reads, was not made, has failed, changed nothing, is taken back, or its own calls are listed. */
  | 'read_only'
  | 'not_made'
  | 'call_failed'
  | 'no_change'
  | 'taken_back'
  | 'inner_calls'
  /** It cannot be: its tool has no undo, is gone or has changed, its outcome is unknown, or a secret was removed from its values. */
  | 'no_undo'
  | 'no_tool'
  | 'tool_changed'
  | 'outcome_unknown'
  | 'redacted'
  /** Its undo has failed before, or was begun and has no known end. It is never begun again. */
  | 'undo_failed'
  | 'undo_unknown';

/** A call of a run, of its programs or of its plans. */
export interface UndoCall extends ShownPreview {
  readonly toolCallId: string;
  /** The step of the run, from 1. */
  readonly step: number;
  readonly tool: string;
  readonly title: string;
  readonly can: 'yes' | 'no' | 'nothing';
  readonly why?: UndoWhy;
}

/** What would be taken back, newest first. */
export interface UndoPreview {
  readonly runId: string;
  readonly toStep: number;
  /** Confirms exactly this, when it is passed to `run`. */
  readonly digest: string;
  readonly calls: readonly UndoCall[];
}

/** What was taken back. */
export interface UndoReport {
  readonly runId: string;
  readonly takenBack: readonly UndoCall[];
  /** What has changed something and is not taken back: what cannot be, what failed, and everything older than that. */
  readonly remains: readonly UndoCall[];
  /** Where it stopped. */
  readonly failed?: { readonly toolCallId: string; readonly error: ErrorData };
  /** A rule has a person decide first: what remains is taken back when this item of the inbox is approved. */
  readonly approvalId?: string;
  /** Says in the chat what was taken back. */
  readonly message?: UIMessage;
  /** Whether the message is in the stored chat. A client that stores the chat itself adds it. */
  readonly isStored: boolean;
}

/** Takes back what runs have done. */
export interface RunUndo {
  /** Shows what would be taken back. Nothing is changed. Rejects with `not_found`, `run_expired` and `forbidden`. */
  preview(runId: string, terms: UndoTerms, principal: Principal): Promise<UndoPreview>;
  /**
   * Takes back what a preview has shown, newest first. Stops at the first failure. Each call is taken back at most once: what was begun
   * by an instance that was lost is `undo_unknown`, and never begun again.
   *
   * Where `authorize` asks for a person (`run.undo`, `tool.undo`), the report names the item of the inbox that waits.
   *
   * Rejects with `conflict` (`run_running`, `preview_changed`), `forbidden`, and as `preview` does.
   *
   * @example
   * const { digest, calls } = await runtime.undo.preview(runId, { toStep: 1 }, principal);
   * const report = await runtime.undo.run(runId, { toStep: 1, digest }, principal);
   */
  run(
    runId: string,
    terms: UndoTerms & { readonly digest: string },
    principal: Principal,
    options?: { readonly signal?: AbortSignal },
  ): Promise<UndoReport>;
}
