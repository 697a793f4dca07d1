/** Removes what is stored of a person: chats, the logs of their runs, and memory. */

import { checkNames, optional } from '../../src/base/check-options.ts';
import { PinnaceError } from '../../src/base/errors.ts';
import { createPrincipal, isPrincipalName, type Principal, requireScope } from '../../src/base/principal.ts';
import type { Filter, GroundingSource } from '../../src/contracts/grounding-source.ts';
import type { CallerTrace } from '../../src/events/span.ts';
import { type GroundingCallOptions, ownerOf } from '../../src/grounding/access.ts';
import { type Grounding, isWritable } from '../../src/grounding/create-grounding.ts';
import { guardEmitted } from '../../src/permission/guarded.ts';
import type { HostedRuntime } from '../../src/runtime/runtime.ts';

/** Where data of persons is. */
export interface PersonStores {
  readonly runtime: Pick<HostedRuntime, 'chats' | 'schedules' | 'guard' | 'authorize'>;
  /** Its sources made with `perSubject` are emptied. */
  readonly grounding?: Grounding | undefined;
}

/** What was removed. */
export interface ErasedPerson {
  readonly chats: number;
  readonly messages: number;
  /** Logs of runs that had ended. */
  readonly runs: number;
  /** Runs under way, which were asked to stop; their logs expire. */
  readonly running: number;
  /** Items of memory. */
  readonly memories: number;
  readonly schedules: number;
}

/** A person's chats may grow while they are removed. */
const mostPasses = 3;

/** Matches every item. */
const everything: Filter = {
  any: [{ field: 'id', op: 'exists', value: true }, { field: 'id', op: 'exists', value: false }],
};

/**
 * Removes the stored chats of a subject of the caller's tenant, the logs of their runs, its schedules, and the items of its memory. Asks the
 * permission hook for `subject.erase` once and is audited; each chat and each memory asks as usual, too. Of an unknown subject nothing is
 * recorded. Repeating the call removes what is left.
 *
 * @throws PinnaceError `forbidden` without the scope `admin`, for a principal that may not run every agent, and by the hook.
 * @example
 * const { chats, memories } = await erasePerson({ runtime, grounding }, 'ada', principal);
 */
export async function erasePerson(
  options: PersonStores,
  subject: string,
  principal: Principal,
  { trace, signal }: { readonly trace?: CallerTrace; readonly signal?: AbortSignal } = {},
): Promise<ErasedPerson> {
  checkNames('erase the person', options, optional('runtime', 'grounding'));
  const { runtime, grounding } = options;
  requireScope(principal, 'admin');
  if (principal.agents !== '*') {
    throw new PinnaceError('forbidden', 'Cannot erase the person: the principal may not run every agent', {
      details: { reason: 'agents_limited' },
    });
  }
  const call = { subject, principal, authorize: runtime.authorize, signal };
  if (!await isKnown({ runtime, grounding }, call)) {
    return { chats: 0, messages: 0, runs: 0, running: 0, memories: 0, schedules: 0 };
  }
  const effect = { action: 'subject.erase', target: { type: 'subject', id: subject }, subject, principal, trace };
  const done = (erased: ErasedPerson) => ({ ...erased });
  return await guardEmitted(runtime.guard, { ...effect, done, attempt: 'Cannot erase the person' }, async () => {
    const schedules = await runtime.schedules.erase(subject, principal); // first: they start runs in chats
    const chats = await eraseChats(runtime, subject, { principal, trace });
    return { ...chats, memories: await eraseMemory(grounding, call), schedules };
  });
}

/** Whether anything is stored of the subject. No event repeats an unknown id. */
async function isKnown(
  { runtime: { chats, schedules }, grounding }: PersonStores,
  call: GroundingCallOptions & { readonly subject: string; readonly principal: Principal },
): Promise<boolean> {
  const { items } = await listChats(chats, call, { limit: 1 });
  if (items.length > 0 || await schedules.has(call.subject, call.principal)) return true;
  const signal = call.signal ?? new AbortController().signal;
  for (const source of memoriesOf(grounding)) {
    if ((await source.stats(ownerOf(source, call), signal)).items > 0) return true;
  }
  return false;
}

/**
 * Lists as the person: what is asked for and audited is the erasure, of which the listings are a part. A name that no principal may
 * have any more, as "undefined", is listed by the administrator.
 */
async function listChats(
  chats: PersonStores['runtime']['chats'],
  { subject, principal }: { readonly subject: string; readonly principal: Principal },
  { pageToken, limit }: { readonly limit: number; readonly pageToken?: string | undefined },
): ReturnType<PersonStores['runtime']['chats']['list']> {
  const page = { limit, ...(pageToken !== undefined && { pageToken }) };
  if (!isPrincipalName(subject)) return await chats.list(principal, { ...page, subject });
  return await chats.list(
    createPrincipal({ ...principal, subject, actor: principal.actor ?? principal.subject }),
    page,
  );
}

function memoriesOf(grounding: Grounding | undefined): readonly GroundingSource[] {
  return grounding?.sources.filter((source) => source.scope === 'subject' && isWritable(source)) ?? [];
}

async function eraseChats(
  { chats }: PersonStores['runtime'],
  subject: string,
  { principal, trace }: { readonly principal: Principal; readonly trace: CallerTrace },
): Promise<Omit<ErasedPerson, 'memories' | 'schedules'>> {
  const erased = { chats: 0, messages: 0, runs: 0, running: 0 };
  for (let pass = 0; pass < mostPasses; pass++) {
    const before = erased.chats;
    for (let pageToken: string | undefined;;) {
      const page = await listChats(chats, { subject, principal }, { limit: 200, pageToken });
      for (const { chatId } of page.items) {
        const { messages, runs, running } = await chats.delete(chatId, principal, { subject, trace });
        erased.chats++;
        erased.messages += messages;
        erased.runs += runs;
        erased.running += running;
      }
      if ((pageToken = page.nextPageToken) === undefined) break;
    }
    if (erased.chats === before) break;
  }
  return erased;
}

async function eraseMemory(
  grounding: Grounding | undefined,
  call: GroundingCallOptions,
): Promise<number> {
  let count = 0;
  for (const { id: dataSourceId } of memoriesOf(grounding)) {
    const { forgotten } = await grounding!.forget({ dataSourceId, filters: [everything] }, call);
    count += forgotten;
  }
  return count;
}
