/** The calls of a run that may have changed something: its own, those of its programs, and those of its plans. */

import { asRecord, isRecord } from '../base/is-record.ts';
import type { Key } from '../base/key.ts';
import type { Principal } from '../base/principal.ts';
import type { Plans } from '../contracts/plans.ts';
import { readJournal } from '../log/journal-record.ts';
import { programPrefix, readPast, storedPrograms } from '../programs/program-record.ts';
import { readLog } from '../runtime/stored-run.ts';
import type { RuntimeParts } from '../runtime/run-context.ts';
import { type RecordedChunk, runPrefix, type RunState } from '../runtime/run-record.ts';
import type { PlanEvent } from '../planner/plan-event.ts';

/** A call as the log has it. */
export interface ActedCall {
  /** Of a call of a plan, the id of the plan and that of the call. */
  readonly toolCallId: string;
  /** Where its undo is recorded. A call has one place, whichever run it is reached from. */
  readonly undoKey: Key;
  readonly step: number;
  readonly agentId: string;
  readonly tool: string;
  readonly input: unknown;
  readonly output?: unknown;
  /** `read`: nothing was recorded before it, so it only reads. `open`: it was not made. */
  readonly end: 'ok' | 'failed' | 'unknown' | 'read' | 'open';
}

type Parts = Pick<RuntimeParts, 'storage' | 'plans'>;

interface Stored {
  readonly runId: string;
  readonly state: RunState;
  readonly items: readonly RecordedChunk[];
}

/** Where a call is in the run's stream. */
interface Place {
  readonly at: number;
  readonly step: number;
}

interface Seen extends Place {
  readonly tool?: string;
  readonly input?: unknown;
  end?: Pick<ActedCall, 'end' | 'output'>;
}

/** Reads the calls, newest first. */
export async function actedCalls(parts: Parts, run: Omit<Stored, 'items'>, principal: Principal): Promise<ActedCall[]> {
  const chain = await messageRuns(parts, run);
  const own = chain[0]?.items ?? [];
  const { calls, plans } = callsIn(own);
  const inputs = chain.slice(1).map(({ items }) => callsIn(items).calls);
  const records = await recordsOf(parts, run.runId);
  const undoKey = (toolCallId: string): Key => undoKeyOf(run.runId, toolCallId);
  const { agentId } = run.state;
  const found: (ActedCall & { readonly order: readonly number[] })[] = [];
  for (const [toolCallId, seen] of calls) {
    const { tool = '', input } = seen.tool === undefined
      ? inputs.find((of) => of.has(toolCallId))?.get(toolCallId) ?? seen
      : seen;
    const record = records.get(toolCallId);
    const facts = {
      toolCallId,
      undoKey: undoKey(toolCallId),
      step: seen.step,
      agentId,
      tool: record?.tool ?? tool,
      input,
    };
    const end = record
      ? seen.end ?? { end: 'unknown' as const }
      : { end: seen.end ? 'read' as const : 'open' as const };
    found.push({ ...facts, ...end, order: [seen.at, 0] });
  }
  const outs = await programOuts(parts, chain);
  for (const [toolCallId, { tool, input }] of records) {
    const [, program = '', n = ''] = /^(.*)\/(\d+)$/.exec(toolCallId) ?? [];
    const place = calls.get(program);
    if (!place || calls.has(toolCallId)) continue;
    const end = outs.get(program)?.get(Number(n)) ?? { end: 'unknown' as const };
    const facts = { toolCallId, undoKey: undoKey(toolCallId), step: place.step, agentId, tool, input };
    found.push({ ...facts, ...end, order: [place.at, Number(n)] });
  }
  for (const [planId, { at, step }] of plans) {
    const all = await planCalls(parts.plans, { planId, principal, step });
    found.push(...all.map((call, i) => ({ ...call, order: [at, i] })));
  }
  return found.toSorted((a, b) => (b.order[0] ?? 0) - (a.order[0] ?? 0) || (b.order[1] ?? 0) - (a.order[1] ?? 0))
    .map(({ order: _, ...call }) => call);
}

/** Where the undo of a call is recorded. */
function undoKeyOf(runId: string, toolCallId: string): Key {
  return [...runPrefix(runId), 'undo', toolCallId];
}

const mostRuns = 20;

/** The run, and those before it that wrote the same message: they have asked for what it has made. */
async function messageRuns({ storage }: Parts, run: Omit<Stored, 'items'>): Promise<readonly Stored[]> {
  const runs: Stored[] = [];
  let next: Omit<Stored, 'items'> | undefined = run;
  while (next && runs.length < mostRuns) {
    runs.push({ ...next, items: await readLog(next.runId, storage, next.state.parent) });
    next = await runBefore(next.state, storage);
  }
  return runs;
}

async function runBefore(
  { continues }: RunState,
  storage: Parts['storage'],
): Promise<Omit<Stored, 'items'> | undefined> {
  const before = continues === undefined ? undefined : await readJournal<RunState>(storage, runPrefix(continues));
  return before && continues !== undefined ? { runId: continues, state: before.head.state } : undefined;
}

function callsIn(
  items: readonly RecordedChunk[],
): { readonly calls: Map<string, Seen>; readonly plans: Map<string, Place> } {
  const calls = new Map<string, Seen>();
  const plans = new Map<string, Place>();
  let step = 0;
  for (const [at, { chunk }] of items.entries()) {
    if (chunk.type === 'start-step') step++;
    const place = { at, step: Math.max(1, step) }; // what people decided on is settled before the first step
    const end = (toolCallId: string, how: Seen['end']): void => {
      const seen: Seen = calls.get(toolCallId) ?? place;
      if (how) seen.end = how;
      calls.set(toolCallId, seen);
    };
    if (chunk.type === 'tool-input-available' && chunk.providerExecuted !== true) {
      calls.set(chunk.toolCallId, { ...place, tool: chunk.toolName, input: chunk.input });
    } else if (
      chunk.type === 'tool-output-available' && chunk.preliminary !== true && chunk.providerExecuted !== true
    ) {
      end(chunk.toolCallId, { end: 'ok', output: chunk.output });
    } else if (chunk.type === 'tool-output-error' && chunk.providerExecuted !== true) {
      end(chunk.toolCallId, { end: codeOf(items[at + 1]) === 'outcome_unknown' ? 'unknown' : 'failed' });
    } else if (chunk.type === 'data-plan' && 'data' in chunk) {
      const { planId } = asRecord(chunk.data);
      if (typeof planId === 'string' && !plans.has(planId)) plans.set(planId, place);
    }
  }
  return { calls, plans };
}

/** The code of the error whose chunk follows that of a failed call. */
function codeOf(item: RecordedChunk | undefined): unknown {
  return item?.chunk.type === 'data-tool-error' && 'data' in item.chunk ? asRecord(item.chunk.data)['code'] : undefined;
}

interface CallRecord {
  readonly toolCallId: string;
  readonly tool: string;
  readonly input?: unknown;
}

/** The calls that were recorded before they could act. */
async function recordsOf({ storage }: Parts, runId: string): Promise<ReadonlyMap<string, CallRecord>> {
  const entries = await storage.list({ prefix: [...runPrefix(runId), 'call'], limit: 1000 });
  return new Map(entries.map(({ value }) => value as CallRecord).map((record) => [record.toolCallId, record])); // `callStart` wrote it
}

type End = Pick<ActedCall, 'end' | 'output'>;

async function programOuts(
  { storage }: Parts,
  chain: readonly Stored[],
): Promise<ReadonlyMap<string, Map<number, End>>> {
  const found = new Map<string, Map<number, End>>();
  for (const run of chain) {
    for (const { toolCallId, home } of await storedPrograms(run, run.items.map(({ chunk }) => chunk), storage)) {
      const { outs } = await readPast(storage, programPrefix(home.runId, home.id));
      const ends = outs.map((out): [number, End] => {
        if (!out.ok) return [out.n, { end: out.code === 'outcome_unknown' ? 'unknown' : 'failed' }];
        return [out.n, { end: 'ok', ...('output' in out && { output: out.output }) }];
      });
      found.set(toolCallId, new Map(ends));
    }
  }
  return found;
}

/** The calls of a plan, oldest first. Its journal says who called what; whether a tool acts, the tool says. */
async function planCalls(
  plans: Plans,
  { planId, principal, step }: { readonly planId: string; readonly principal: Principal; readonly step: number },
): Promise<readonly ActedCall[]> {
  const agents = new Map<string, string>();
  const calls = new Map<string, ActedCall>();
  const asks = new Map<string, string>();
  for (let after = 0;;) {
    const page = await plans.events(planId, principal, { after });
    for (const { event: { ...given } } of page) {
      const event = given as PlanEvent; // the planner's own journal
      if (event.type === 'agent.created') agents.set(event.id, event.agentId ?? '');
      if (event.type === 'step.done') {
        const [address = ''] = event.step.split('#');
        event.calls?.forEach(({ tool, input, effect }, i) => {
          const id = `${event.step}.${i + 1}`;
          const facts = {
            toolCallId: `${planId}/${id}`,
            undoKey: undoKeyOf(planId, id),
            agentId: agents.get(address) ?? '',
          };
          calls.set(id, { ...facts, step, tool, input, end: effect === 'unsafe' ? 'open' : 'unknown' });
        });
      }
      if (event.type === 'ask.opened' && event.step !== undefined) asks.set(event.ask, event.step);
      if (event.type === 'ask.answered' && isRecord(event.answer) && 'input' in event.answer) {
        const id = asks.get(event.ask) ?? '';
        const asked = calls.get(id);
        if (asked) calls.set(id, { ...asked, input: event.answer['input'] }); // a person has changed it
      }
      const call = 'step' in event && event.step !== undefined ? calls.get(event.step) : undefined;
      if (!call) continue;
      calls.delete(call.toolCallId.slice(planId.length + 1)); // the order is that of their ends
      const set = (end: End): void => void calls.set(call.toolCallId.slice(planId.length + 1), { ...call, ...end });
      if (event.type === 'call.done') {
        const isLarge = event.refs?.includes('output') === true && isRecord(event.output);
        set({ end: 'ok', output: isLarge ? await plans.read(planId, principal, event.output as never) : event.output }); // a reference, as listed
      } else if (event.type === 'step.failed') {
        set({ end: event.error.code === 'outcome_unknown' ? 'unknown' : 'failed' });
      } else set({ end: event.type === 'ask.opened' && event.kind === 'approval' ? 'open' : 'unknown' }); // it has started
    }
    const last = page.at(-1);
    if (!last) return [...calls.values()];
    after = last.seq;
  }
}
