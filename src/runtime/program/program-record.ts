/** The records of a program: what it was started with, its calls, and their outcomes in the order of their delivery. */

import type { Key } from '../../base/key.ts';
import { sha256Sync } from '../../base/sha256-sync.ts';
import type { Delivery } from '../../contracts/program-sandbox.ts';
import type { Storage } from '../../contracts/storage.ts';
import { readItems } from '../../log/journal-record.ts';
import { runPrefix } from '../log/run-record.ts';

/** The state of a program, in the head of its journal. */
export interface ProgramState {
  readonly v: 1;
  /** Random: the commit that created the journal recognizes itself by it. */
  readonly mark: string;
  readonly toolCallId: string;
  readonly tenant: string;
  /** Whose program it is. Absent in records of version 0.2: that of the run in which it started. */
  readonly subject?: string;
  readonly chatId: string;
  readonly agentId: string;
  readonly revision: number;
  readonly toolSetDigest: string;
  readonly codeDigest: string;
  readonly timeZone: string;
  readonly seed: number;
  /** The time that the program sees, in milliseconds since 1970. */
  readonly at: number;
  readonly status: 'running' | 'suspended' | 'ended';
  /** The run that executes it, or has suspended it. Absent in records of earlier versions. */
  readonly driver?: string;
}

/** Where a program is stored: the run that started it, and its id there. */
export interface ProgramHome {
  readonly runId: string;
  readonly id: string;
}

/** An outcome as it was delivered. */
export type OutItem = { readonly t: 'out'; readonly digest: string } & Delivery;

/** A call that waits for a person. */
export interface AskItem {
  readonly t: 'ask';
  readonly n: number;
  readonly tool: string;
  readonly digest: string;
  readonly approvalId: string;
}

/** An item of the journal. `begin` is committed before a side effect, with the digest of its tool and input. */
export type ProgramItem =
  | { readonly t: 'code'; readonly code: string }
  | { readonly t: 'begin'; readonly n: number; readonly digest: string }
  | AskItem
  | OutItem
  | { readonly t: 'end'; readonly ok: boolean };

/** Returns the id of a program in its run: models use the id of a call again in a later step. */
export function programId(toolCallId: string, ordinal: number): string {
  return sha256Sync(ordinal === 0 ? toolCallId : `${toolCallId}\n${ordinal}`);
}

/** The keys of a program's journal. */
export function programPrefix(runId: string, id: string): Key {
  return [...runPrefix(runId), 'program', id];
}

/** What a program did before, by the numbers of its calls. */
export interface ProgramPast {
  readonly code: string;
  /** In the order of delivery. */
  readonly outs: readonly OutItem[];
  /** The digests of side effects that were started. */
  readonly begun: ReadonlyMap<number, string>;
  readonly asked: ReadonlyMap<number, AskItem>;
}

/** Reads the items of a journal. */
export async function readPast(storage: Storage, prefix: Key): Promise<ProgramPast> {
  let code = '';
  const outs: OutItem[] = [];
  const begun = new Map<number, string>();
  const asked = new Map<number, AskItem>();
  for (let after = 0;;) {
    const page = await readItems(storage, prefix, after);
    for (const { item } of page) {
      const read = JSON.parse(item) as ProgramItem; // only the program's journal writes it
      if (read.t === 'code') ({ code } = read);
      else if (read.t === 'out') outs.push(read);
      else if (read.t === 'begin') begun.set(read.n, read.digest);
      else if (read.t === 'ask') asked.set(read.n, read);
    }
    const last = page.at(-1);
    if (!last) return { code, outs, begun, asked };
    after = last.seq;
  }
}
