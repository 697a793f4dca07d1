/** What earlier runs have added to the message that a run continues. */

import { readJournal } from '../log/journal-record.ts';
import type { Storage } from '../contracts/storage.ts';
import { haveOneOwner } from '../permission/ownership.ts';
import { chatBefore, ownerBefore, ownerOfRun, runPrefix, type RunState } from './run-record.ts';
import { readLog } from './stored-run.ts';

/** A message that more runs than these have made loses the chunks of its oldest. */
const maxRuns = 16;

/** Chunks that open or end a stream: a message has one stream, that of its last run. */
const framing: ReadonlySet<string> = new Set(['start', 'finish', 'abort', 'error']);

/** Returns the chunks of the runs before this one, as JSON texts, without those that open or end a stream. */
export async function earlierChunks(runId: string, storage: Storage): Promise<readonly string[]> {
  const stateOf = async (id: string) => (await readJournal<RunState>(storage, runPrefix(id)))?.head.state;
  const last = await stateOf(runId);
  const logs: string[][] = [];
  let chatId = last && chatBefore(last);
  let owner = last && ownerBefore(last);
  for (let id = last?.continues; id !== undefined && logs.length < maxRuns;) {
    const state: RunState | undefined = await stateOf(id);
    if (!state || !owner || !haveOneOwner(owner, ownerOfRun(state)) || state.chatId !== chatId) break;
    const log = await readLog(id, storage, state.parent);
    logs.unshift(log.flatMap(({ chunk, text }) => framing.has(chunk.type) ? [] : [text]));
    chatId = chatBefore(state);
    owner = ownerBefore(state);
    id = state.continues;
  }
  return logs.flat();
}
