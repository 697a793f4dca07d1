/** Finds the programs of an earlier run that wait for people, spends what was decided, and takes their journals over. */

import { PinnaceError, toPinnaceError } from '../../base/errors.ts';
import { type JournalHead, readJournal } from '../../log/journal-record.ts';
import { takeOver } from '../../log/take-over.ts';
import type { SpentDecision, Unspendable } from '../../permission/interruption.ts';
import { codeRunId } from '../../tools/program-host.ts';
import { approvalsRequestedIn, type CallForApproval, claimOn } from '../calls/approvals.ts';
import { programsIn } from '../messages/program-parts.ts';
import type { RunOptions } from '../run-options.ts';
import type { RunPrograms } from './program-host.ts';
import { type ProgramPast, programPrefix, type ProgramState, readPast } from './program-record.ts';
import { programSubject, type Resumed } from './resumed-program.ts';

/** Prepares the waiting programs of the chat's last message, and returns the calls of `code_run` that go on with them. */
export async function resumePrograms(
  options: RunOptions,
  { host, timeZone }: { readonly host: RunPrograms; readonly timeZone: string },
): Promise<readonly CallForApproval[]> {
  const { request: { chat }, toolSet } = options;
  const last = chat.messages.at(-1);
  const tool = toolSet.tools.find(({ definition: { id } }) => id === codeRunId);
  const waiting = new Map<string, string>();
  const programs = programsIn(last);
  for (const { approvalId, toolCallId } of approvalsRequestedIn(last)) {
    const program = programs.of(toolCallId);
    if (program !== undefined) waiting.set(program, approvalId);
  }
  if (!tool) return [];
  return await Promise.all([...waiting].map(async ([toolCallId, approvalId]): Promise<CallForApproval> => {
    const how = await resume(options, { approvalId, toolCallId, timeZone }).catch(toPinnaceError);
    host.resume(toolCallId, how);
    const code = how instanceof PinnaceError ? '//' : how.past.code;
    // A person or the hook has let the program start; its calls are decided one by one.
    return { toolCallId, tool, input: { code }, approvalId, decision: { kind: 'approval', approved: true } };
  }));
}

interface Waiting {
  readonly approvalId: string;
  readonly toolCallId: string;
  readonly timeZone: string;
}

/** The decisions are spent before the journal is taken over: of two runs, one gets them, and only that one goes on. */
async function resume(options: RunOptions, { approvalId, toolCallId, timeZone }: Waiting): Promise<Resumed> {
  const { principal: { tenant }, interruptions, storage, now, ttlMs, limits: { approvalMs } } = options;
  const home = (await interruptions.find(tenant, approvalId))?.program;
  if (!home) throw unresumable('no approval of this program has this id', 'approval_not_found');
  const prefix = programPrefix(home.runId, home.id);
  const found = await readJournal<ProgramState>(storage, prefix);
  if (!found) throw unresumable('its record has expired', 'approval_expired');
  requireSame(found.head, { options, toolCallId, timeZone });
  const past = await readPast(storage, prefix);
  const decisions = await spendDecisions(options, found.head.state, past);
  const isSame = (head: JournalHead<ProgramState>): boolean => head.fence === found.head.fence;
  const taken = await takeOver<ProgramState>({
    storage,
    prefix,
    now,
    ttlMs: Math.max(ttlMs, 2 * approvalMs),
    when: isSame,
  });
  if (!taken) throw unresumable('another run goes on with it', 'approval_spent');
  return { home, state: found.head.state, past, decisions, taken };
}

function requireSame(
  { state }: JournalHead<ProgramState>,
  { options, toolCallId, timeZone }: {
    readonly options: RunOptions;
    readonly toolCallId: string;
    readonly timeZone: string;
  },
): void {
  const { principal: { tenant }, request: { chat }, agent, toolSet } = options;
  const isMine = state.tenant === tenant && state.chatId === chat.id && state.agentId === agent.id &&
    state.toolCallId === toolCallId;
  if (!isMine) throw unresumable('its approval was given in another chat or to another agent', 'approval_moved');
  if (state.status !== 'suspended') throw unresumable('another run goes on with it', 'approval_spent');
  const isSame = state.revision === agent.revision && state.toolSetDigest === toolSet.digest &&
    state.timeZone === timeZone;
  if (isSame) return;
  throw new PinnaceError(
    'conflict',
    'Cannot go on with the program: its agent or tools have changed since it started',
    {
      retryable: false,
      details: { reason: 'program_changed' },
    },
  );
}

async function spendDecisions(
  options: RunOptions,
  state: ProgramState,
  { asked, begun, outs }: ProgramPast,
): Promise<ReadonlyMap<number, SpentDecision | Unspendable>> {
  const settled = new Set(outs.map(({ n }) => n));
  const decisions = new Map<number, SpentDecision | Unspendable>();
  for (const { n, tool, digest, approvalId } of asked.values()) {
    if (settled.has(n) || begun.has(n)) continue;
    const definition = options.toolSet.tools.find((one) => one.definition.name === tool)?.definition;
    const claim = await claimOn(options, programSubject(state, { definition, digest, n }));
    const decision = await options.interruptions.spend(approvalId, claim);
    if ('unspendable' in decision && decision.unspendable === 'approval_spent') {
      throw unresumable('another run goes on with it', 'approval_spent');
    }
    decisions.set(n, decision);
  }
  return decisions;
}

function unresumable(why: string, reason: string): PinnaceError {
  return new PinnaceError('approval_required', `Cannot go on with the program: ${why}`, {
    retryable: false,
    details: { reason },
  });
}
