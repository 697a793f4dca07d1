/** Forks of runs: a run that goes on from a step of an earlier one. */

import { changedFields, parseForkRequest } from './fork-request.ts';
import type { Guard } from '../permission/guarded.ts';
import { PinnaceError, toData } from '../base/errors.ts';
import { limitOf, type Page, readPageToken, writePageToken } from '../base/page.ts';
import { type Principal, requireScope } from '../base/principal.ts';
import { statusOfError } from '../events/span.ts';
import { changesRecord, forkOrigin } from './fork-origin.ts';
import { cutBefore, type ForkPlan, readParent } from './parent-run.ts';
import type { RunOrigin, RuntimeParts } from '../runtime/run-context.ts';
import type { ParentRun } from '../runtime/resume-run.ts';
import { ownerOfRun } from '../runtime/run-record.ts';
import type { RunRequest } from '../runtime/run-request.ts';
import type { ForkEntry, ForkListOptions, Started, StartOptions } from '../runtime/runtime.ts';

export { readRecorded, recordedOrigin } from './recorded-tools.ts';

/** What forks need besides the parts of the runtime. */
interface ForkServices {
  readonly guard: Guard;
  readonly start: (request: RunRequest, options: StartOptions & { readonly origin: RunOrigin }) => Promise<Started>;
}

/** A run to fork, by whom and how. */
interface Forking {
  readonly runId: string;
  readonly input: unknown;
  readonly principal: Principal;
  readonly options: StartOptions;
}

/** Starts a fork that continues without a reader, or finds the fork of its idempotency key. */
export async function startFork(
  parts: RuntimeParts,
  { runId, input, principal, options }: Forking,
  { guard, start }: ForkServices,
): Promise<Started> {
  const fork = parseForkRequest(input, parts.limits);
  const changed = changedFields(fork);
  requireScope(principal, 'run:read');
  requireScope(principal, 'run:create');
  if (changesRecord(changed)) requireScope(principal, 'registry:write');
  const known = await parts.runs.find(principal, options.idempotency);
  if (known) return { runId: known.runId, known };
  const parent = await readParent(parts, principal, { runId, scope: 'run:create' });
  const plan = planOf(parent, { options: fork, changed });
  const { agentId } = parent.state;
  const payload = {
    atStep: plan.cut.step,
    changed: changed.join(' '),
    effects: plan.effects,
  };
  const facts = { action: 'run.fork', target: { type: 'run', id: runId }, payload };
  const context = { agentId, input: { atStep: plan.cut.step, changed, effects: plan.effects } };
  const { trace } = options;
  const { subject } = ownerOfRun(parent.state);
  return await guard({ ...facts, subject, principal, context, trace, attempt: 'Cannot fork the run' }, async (at) => {
    try {
      const started = await start(requestOf(plan), { ...options, origin: forkOrigin(parts, plan, principal) });
      at.emit({ ...facts, status: 'ok', payload: { ...payload, runId: started.runId } });
      return started;
    } catch (thrown) {
      const error = toData(thrown);
      at.emit({ ...facts, status: statusOfError(error), error });
      throw thrown;
    }
  });
}

function planOf(parent: ParentRun, { options, changed }: Pick<ForkPlan, 'options' | 'changed'>): ForkPlan {
  if (options.chatId === parent.state.chatId) throw sameChat();
  return { parent, cut: cutBefore(parent.items, options.atStep), options, changed, effects: options.effects ?? 'dry' };
}

/** The request of the parent, with the message that replaces its last one. */
function requestOf({ parent: { basis: { request } }, cut, options }: ForkPlan): RunRequest {
  const { changes: { message } = {}, chatId } = options;
  const id = chatId ?? `fork_${crypto.randomUUID().replaceAll('-', '')}`;
  const at = request.chat.messages.findLastIndex(({ role }) => role === 'user');
  const messages = message && cut.step === 1 ? request.chat.messages.with(at, message) : request.chat.messages;
  return { ...request, chat: { id, messages } };
}

function sameChat(): PinnaceError {
  return new PinnaceError('invalid_argument', 'Cannot fork the run into its own chat: pass another "chatId", or none', {
    details: { reason: 'chat_of_parent' },
  });
}

/** Lists the forks of a run. @throws PinnaceError `not_found` for the run of another person. */
export async function listForks(
  { runs, storage }: Pick<RuntimeParts, 'runs' | 'storage'>,
  runId: string,
  principal: Principal,
  { pageToken, ...options }: ForkListOptions,
): Promise<Page<ForkEntry>> {
  const limit = limitOf(options);
  await runs.status(principal, runId);
  const prefix = ['fork', runId];
  const query = { tenant: principal.tenant, prefix };
  const after = pageToken === undefined ? undefined : await readPageToken(query, pageToken);
  const found = await storage.list({
    prefix,
    ...(after !== undefined && { after: [...prefix, after] }),
    limit: limit + 1,
  });
  const items = found.slice(0, limit).map(({ value }) => value as ForkEntry); // `fork-claim.ts` alone writes it
  const last = found.length > limit ? items.at(-1) : undefined;
  return { items, ...(last && { nextPageToken: await writePageToken(query, last.runId) }) };
}
