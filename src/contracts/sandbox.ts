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
