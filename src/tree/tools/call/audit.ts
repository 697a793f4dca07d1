/** Who changed what, when, and how it went: one entry for every mutating call, whatever its outcome. */

/** One mutating call. */
export interface AuditEntry {
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly agentId: string;
  readonly role: string;
  /** The tool. */
  readonly op: string;
  /** The ids that the call named. */
  readonly targets: readonly string[];
  /** `ok`, `replayed`, or the code of the error. */
  readonly outcome: string;
  readonly versionBefore: string;
  readonly versionAfter: string;
  readonly idempotencyKey?: string;
  /** SHA-256 of the arguments, without version token and idempotency key. */
  readonly argsDigest: string;
  /** How long it took. */
  readonly ms: number;
}

/** Receives entries in order. What it throws cannot break a call. */
export type AuditSink = (entry: AuditEntry) => void;

/** An entry that has not been stored: its number is still 0. */
export type UnnumberedEntry = Omit<AuditEntry, 'seq'> & { seq: number };

/** The latest entries of a tree. */
export interface AuditTrail {
  /** Numbers the entry and stores it. */
  add(entry: UnnumberedEntry, sink: AuditSink | undefined): void;
  /** The entries after a number, oldest first, at most `limit`. */
  list(options?: { readonly after?: number; readonly limit?: number }): readonly AuditEntry[];
}

const maxEntries = 10_000;

/** Creates an empty trail. */
export function createAuditTrail(): AuditTrail {
  const entries: AuditEntry[] = []; // a ring: entry `seq` is at `seq % maxEntries`
  let last = 0;
  return {
    add(entry, sink) {
      entry.seq = ++last;
      entries[last % maxEntries] = entry;
      try {
        sink?.(entry);
      } catch {
        // a sink's failure is its own
      }
    },
    list({ after = 0, limit = maxEntries } = {}) {
      const listed: AuditEntry[] = [];
      for (let seq = Math.max(after, last - maxEntries) + 1; seq <= last && listed.length < limit; seq++) {
        listed.push(entries[seq % maxEntries]!); // safe: the latest are all there
      }
      return listed;
    },
  };
}
