/** The port that runs code. */

/** The terms of one run of code. */
export interface SandboxOptions {
  /** JSON; the code gets a copy. */
  readonly input: unknown;
  /** The most milliseconds that the code may run. */
  readonly timeoutMs: number;
  /** Stops the code. */
  readonly signal: AbortSignal;
  /** The longest output as JSON text, in UTF-16 code units; 65,536 when absent. */
  readonly maxOutputLength?: number;
}

/**
 * Runs code that is not trusted: the body of an async function of `input`, whose result, as JSON, is the answer.
 *
 * The code has the language and a few harmless globals: no network, no storage, no other code, nothing of its host. It ends at
 * its time or with the signal, also in an endless loop, and nothing of it goes on after the answer. Code that cannot be read, or
 * that says `import` or `export`, is `invalid_argument`; an error that it throws is `internal` with the reason `code_failed`, and
 * without its text; an output that is no JSON likewise; one that is too long is `budget_exceeded`. A platform that cannot
 * isolate runs nothing: `unavailable`. Memory is limited only where the platform can do so: on Deno, too much of it is
 * `budget_exceeded` with the reason `out_of_memory`; a browser's worker shares the memory of the page's process, without a limit.
 */
export interface Sandbox {
  run(code: string, options: SandboxOptions): Promise<unknown>;
}

/** The terms of one program. `timeoutMs` is the time that the code itself may take; the time it waits for calls does not count. */
export interface ProgramOptions extends Omit<SandboxOptions, 'input'> {
  /** Seeds `Math.random`. */
  readonly seed: number;
  /** The time that the program sees, in milliseconds since 1970. */
  readonly at: number;
  /** The outcomes of calls that an earlier cell received, in their order. */
  readonly recorded: readonly Delivery[];
  /** The program may receive handles, and has `$each` and `$choose`. */
  readonly handles?: true | undefined;
}

/** The outcome of a call. A value that the program must not see stays at the host: `handle` is the name that the program passes on. */
export type Delivery =
  | { readonly n: number; readonly ok: true; readonly output: unknown }
  | { readonly n: number; readonly ok: true; readonly handle: string }
  | { readonly n: number; readonly ok: false; readonly code: string; readonly message: string };

/**
 * What a cell reports. `call`: the `n`-th call, from 1, of a tool with an input as JSON text; the tool `$sleep` waits `{ ms }`.
 * `idle`: the program has taken one delivery, or its start and all recorded ones, and waits for `open` calls. `end`: what it returned.
 */
export type FromCell =
  | { readonly t: 'call'; readonly n: number; readonly tool: string; readonly input: string }
  | { readonly t: 'idle'; readonly open: number }
  | { readonly t: 'end'; readonly output: unknown; readonly open: number };

/** A running program. */
export interface ProgramCell {
  /** The next report, in their order. Rejects with the error of {@link ProgramSandbox} when the program fails; one call at a time. */
  next(): Promise<FromCell>;
  /** Hands the outcome of a call over. The program takes one delivery after the other, each in a turn of its own. */
  deliver(delivery: Delivery): void;
  /** Stops the program immediately. Twice equals once. */
  end(): void;
}

/**
 * Runs programs that are not trusted: the body of an async function of `tools`, whose methods are calls. The same rules hold as for
 * `Sandbox`. Its clock stands at `at`, and its random numbers come from `seed`: the same program with the same deliveries in the same
 * order makes the same calls, in this cell and in a later one. In the input of a call and in what the program returns, a handle is
 * `{ "$handle": "h1", "path": "/subject" }`; a program that writes this key itself is stopped (`bridge_abused`). The cell has at most
 * 16 calls in flight. A cell that does not keep to
 * the protocol is `budget_exceeded` with the reason `bridge_abused`; code that takes longer than its time, `deadline_exceeded`.
 */
export interface ProgramSandbox {
  /** The time zone of programs, as an IANA name. */
  readonly timeZone: string;
  open(code: string, options: ProgramOptions): Promise<ProgramCell>;
}
