/** Finds the journals of a run's programs. A program that only reads has none. */

import { fromData } from '../../base/errors.ts';
import { isRecord } from '../../base/is-record.ts';
import { sha256Sync } from '../../base/sha256-sync.ts';
import type { UIMessageChunk } from '../../contracts/ai-types.ts';
import type { Storage } from '../../contracts/storage.ts';
import { readJournal } from '../../log/journal-record.ts';
import { codeRunId } from '../../tools/run-scope.ts';
import type { ForkedFrom } from '../run-record.ts';
import { type ProgramHome, programId, programPrefix, type ProgramState, readPast } from '../program-record.ts';
import type { RecordedOutcome } from './dry-tools.ts';
import type { ParentRun } from './parent-run.ts';
import type { LostProgram } from '../run-context.ts';

/** Returns the programs that a lost run executed, also those that have ended before their run did. */
export async function findLostPrograms(parent: ProgramsOf, storage: Storage): Promise<readonly LostProgram[]> {
  const runIds = runIdsOf(parent); // a run that continued it may have been lost before it went on
  const stored = await storedPrograms(parent, parent.items.map(({ chunk }) => chunk), storage);
  return stored.flatMap(({ toolCallId, home, state: { driver } }) =>
    driver !== undefined && runIds.includes(driver) ? [{ toolCallId, home }] : []
  );
}

/** Returns the outcomes of the calls inside of the programs in these chunks, by the digests of tool and input. */
export async function programOutcomes(
  parent: ProgramsOf,
  chunks: readonly UIMessageChunk[],
  storage: Storage,
): Promise<ReadonlyMap<string, RecordedOutcome[]>> {
  const found = new Map<string, RecordedOutcome[]>();
  for (const { home } of await storedPrograms(parent, chunks, storage)) {
    const { outs } = await readPast(storage, programPrefix(home.runId, home.id));
    for (const out of outs) {
      const outcome: RecordedOutcome = out.ok
        ? { ok: true, output: out.output }
        : { ok: false, error: fromData({ code: out.code, message: out.message, retryable: false }) };
      found.set(out.digest, [...found.get(out.digest) ?? [], outcome]);
    }
  }
  return found;
}

type ProgramsOf = Pick<ParentRun, 'runId' | 'state' | 'items'>;

interface StoredProgram extends LostProgram {
  readonly state: ProgramState;
}

async function storedPrograms(
  parent: ProgramsOf,
  chunks: readonly UIMessageChunk[],
  storage: Storage,
): Promise<readonly StoredProgram[]> {
  const all = callsIn(parent.items.map(({ chunk }) => chunk));
  const codes = new Map(callsIn(chunks).map(({ toolCallId, input }) => [toolCallId, codeOf(input)]));
  const found = await Promise.all([...codes].map(async ([toolCallId, code]) => {
    const uses = all.filter((call) => call.toolCallId === toolCallId).length;
    const stored = await Promise.all(
      placesOf(runIdsOf(parent), { toolCallId, uses }).map(async (home) => {
        const head = (await readJournal<ProgramState>(storage, programPrefix(home.runId, home.id)))?.head;
        return head?.state.codeDigest === sha256Sync(code) ? [{ toolCallId, home, state: head.state }] : [];
      }),
    );
    return stored.flat().slice(0, 1);
  }));
  return found.flat();
}

type InputChunk = Extract<UIMessageChunk, { type: 'tool-input-available' }>;

function callsIn(chunks: readonly UIMessageChunk[]): readonly InputChunk[] {
  return chunks.flatMap((chunk) =>
    chunk.type === 'tool-input-available' && chunk.toolName === codeRunId ? [chunk] : []
  );
}

function codeOf(input: unknown): string {
  const code = isRecord(input) ? input['code'] : undefined;
  return typeof code === 'string' ? code : '';
}

/** The run and those whose log it shares. */
function runIdsOf({ runId, state: { parent } }: ProgramsOf): readonly string[] {
  return [...new Set([runId, ...ancestors(parent)])];
}

function ancestors(parent: ForkedFrom | undefined): readonly string[] {
  return parent ? [parent.runId, ...parent.prefix.map(({ runId }) => runId)] : [];
}

/** Models use the id of a call again: the number of earlier uses distinguishes the journals of a run. */
function placesOf(
  runIds: readonly string[],
  { toolCallId, uses }: { readonly toolCallId: string; readonly uses: number },
): readonly ProgramHome[] {
  const ordinals = Array.from({ length: uses }, (_, ordinal) => ordinal);
  return runIds.flatMap((runId) => ordinals.map((n) => ({ runId, id: programId(toolCallId, n) })));
}
