/** Finds the programs of an earlier run that wait for people, spends what was decided, and takes their journals over. */

import { PinnaceError, toPinnaceError } from '../../base/errors.ts';
import { type JournalHead, readJournal } from '../../log/journal-record.ts';
import { takeOver } from '../../log/take-over.ts';
import type { SpentDecision, Unspendable } from '../../permission/interruption.ts';
import { outcomeUnknown } from '../../tools/call-ends.ts';
import { codeRunId } from '../../tools/run-scope.ts';
import { claimOn, earlierClaim } from '../../tools/call-approval.ts';
import { approvalsRequestedIn, type CallForApproval } from '../loop/decided-calls.ts';
import { programsIn } from '../messages/program-parts.ts';
import { type OwnedRecord, reach } from '../../permission/ownership.ts';
import { ownerOfRun, runPrefix, type RunState } from '../log/run-record.ts';
import type { RunOptions } from '../run-options.ts';
import type { RunPrograms } from './program-host.ts';
import { type ProgramHome, type ProgramPast, programPrefix, type ProgramState, readPast } from './program-record.ts';
import { programSubject, type Resumed } from './resumed-program.ts';

/**
 * Prepares the waiting programs of the chat's last message and those of a lost run, and returns the calls of `code_run` that go on with
 * them.
 */
export async function resumePrograms(
  options: RunOptions,
  { host, timeZone }: { readonly host: RunPrograms; readonly timeZone: string },
): Promise<readonly CallForApproval[]> {
  const tool = options.toolSet.tools.find(({ definition: { id } }) => id === codeRunId);
  if (!tool) return [];
  const found = await findPrograms(options);
  return await Promise.all(
    [...found].map(async ([toolCallId, { approvalId = '', home, isLost }]): Promise<CallForApproval> => {
      const how = await resume(options, home, { toolCallId, timeZone, isLost }).catch((error: unknown) =>
        isLost ? outcomeUnknown(codeRunId, 'worker_lost', error) : toPinnaceError(error)
      );
      host.resume(toolCallId, how);
      const code = how instanceof PinnaceError ? '//' : how.past.code;
      // A person or the hook has let the program start; its calls are decided one by one.
      return { toolCallId, tool, input: { code }, approvalId, decision: { kind: 'approval', approved: true } };
    }),
  );
}

interface FoundProgram {
  readonly home: ProgramHome | undefined;
  /** One of the approvals that it waits for. */
  readonly approvalId?: string;
  /** Whether this run continues the one that was lost with it. */
  readonly isLost: boolean;
}

/** The programs by the ids of their calls. */
async function findPrograms(
  { request: { chat }, principal, interruptions, resumed }: RunOptions,
): Promise<ReadonlyMap<string, FoundProgram>> {
  const found = new Map<string, FoundProgram>();
  for (const { toolCallId, home } of resumed?.programs ?? []) found.set(toolCallId, { home, isLost: true });
  const last = chat.messages.at(-1);
  const programs = programsIn(last);
  for (const { approvalId, toolCallId } of approvalsRequestedIn(last)) {
    const program = programs.of(toolCallId);
    if (program === undefined || found.has(program)) continue;
    const home = (await interruptions.find(principal, approvalId))?.program;
    found.set(program, { home, approvalId, isLost: false });
  }
  return found;
}

interface Waiting {
  readonly toolCallId: string;
  readonly timeZone: string;
  readonly isLost: boolean;
}

/** The journal is taken over before the decisions are spent: of two runs, one gets it, and only that one goes on. */
async function resume(
  options: RunOptions,
  home: ProgramHome | undefined,
  { toolCallId, timeZone, isLost }: Waiting,
): Promise<Resumed> {
  const { runId, storage, now, ttlMs, limits: { approvalMs } } = options;
  if (!home) throw unresumable('no approval of this program has this id', 'approval_not_found');
  const prefix = programPrefix(home.runId, home.id);
  const found = await readJournal<ProgramState>(storage, prefix);
  if (!found) throw unresumable('its record has expired', 'approval_expired');
  const { state } = found.head;
  const reached = reach(options.principal, await ownerOf(state, { home, storage }));
  if (reached !== 'owner' && !(isLost && reached === 'admin')) {
    throw unresumable('no approval of this program has this id', 'approval_not_found');
  }
  requireSame(found.head, { options, toolCallId, timeZone });
  await requireFree(options, state);
  const taken = await takeOver<ProgramState>({
    storage,
    prefix,
    now,
    ttlMs: Math.max(ttlMs, 2 * approvalMs),
    when: ({ fence }) => fence === found.head.fence,
    next: (before) => ({ ...before, status: 'running', driver: runId }),
  });
  if (!taken) throw unresumable('another run goes on with it', 'approval_spent');
  const past = await readPast(storage, prefix);
  const decisions = await spendDecisions(options, past, { state, isLost });
  return { home, state: taken.head.state, past, decisions, taken };
}

/** A program is free when it waits for people, or the run that executed it was lost: perhaps before its result was recorded. */
async function requireFree({ runs, principal }: RunOptions, { status, driver }: ProgramState): Promise<void> {
  if (status === 'suspended') return;
  const run = driver === undefined ? undefined : await runs.state(principal, driver).catch(() => undefined);
  if (run?.state === 'failed' && run.error?.details?.['reason'] === 'worker_lost') return;
  throw unresumable('another run goes on with it', 'approval_spent');
}

/** Whose program it is: its lost run may be another's, which an administrator continues. */
async function ownerOf(
  { tenant, subject }: ProgramState,
  { home, storage }: { readonly home: ProgramHome; readonly storage: RunOptions['storage'] },
): Promise<OwnedRecord> {
  if (subject !== undefined) return { tenant, subject };
  const run = (await readJournal<RunState>(storage, runPrefix(home.runId)))?.head.state;
  return { tenant, subject: run && ownerOfRun(run).subject };
}

function requireSame(
  { state }: JournalHead<ProgramState>,
  { options, toolCallId, timeZone }: {
    readonly options: RunOptions;
    readonly toolCallId: string;
    readonly timeZone: string;
  },
): void {
  const { request: { chat }, agent, toolSet } = options;
  const isMine = state.chatId === chat.id && state.agentId === agent.id && state.toolCallId === toolCallId;
  if (!isMine) throw unresumable('its approval was given in another chat or to another agent', 'approval_moved');
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

/** Spends the decisions. A run that was lost may have spent them before: this one alone goes on now. */
async function spendDecisions(
  options: RunOptions,
  { asked, begun, outs }: ProgramPast,
  { state, isLost }: { readonly state: ProgramState; readonly isLost: boolean },
): Promise<ReadonlyMap<number, SpentDecision | Unspendable>> {
  const settled = new Set(outs.map(({ n }) => n));
  const decisions = new Map<number, SpentDecision | Unspendable>();
  for (const { n, tool, digest, approvalId } of asked.values()) {
    if (settled.has(n) || begun.has(n)) continue;
    const definition = options.toolSet.tools.find((one) => one.definition.name === tool)?.definition;
    const about = programSubject(state, { definition, digest, n });
    const how = { again: state.status !== 'suspended', earlier: () => earlierClaim(options, about) };
    const decision = await options.interruptions.spend(approvalId, await claimOn(options, about), how);
    // The lost run may not have shown the question: it is asked again.
    if (isLost && 'unspendable' in decision && decision.unspendable === 'approval_undecided') continue;
    decisions.set(n, decision);
  }
  return decisions;
}

function unresumable(why: string, reason: string): PinnaceError {
  return new PinnaceError('approval_required', `Cannot go on with the program: ${why}`, {
    details: { reason },
  });
}
