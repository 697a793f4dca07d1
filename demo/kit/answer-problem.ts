/** Answers of workers, as texts for people. */

interface Failed {
  readonly ok: false;
  readonly error: { readonly message: string };
}

/** Returns what went wrong, as a sentence; `undefined` for a success. A missing answer is `otherwise`. */
export function problemOf(answer: { readonly ok: true } | Failed | undefined, otherwise: string): string | undefined {
  if (answer?.ok) return undefined;
  return `${answer?.error.message ?? otherwise}.`;
}
