/** Trusted Types for what a sandbox is made of. A page that asks for them allows the policy `pinnace-sandbox`. */

/** As much of Trusted Types as is used here; runtimes other than browsers have none. */
interface TrustedTypePolicies {
  createPolicy<Rules>(name: string, rules: Rules): Rules;
}

interface Rules {
  readonly createHTML: (html: string) => string;
  readonly createScriptURL: (url: string) => string;
}

/**
 * Returns what marks the sandbox's own frame and modules as trusted; the browser then refuses those of anybody else.
 *
 * Throws where the policy is forbidden, or another script has created it.
 */
export function trustOwn(): Rules {
  const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypePolicies };
  const rules: Rules = { createHTML: (html) => html, createScriptURL: (url) => url };
  return trustedTypes?.createPolicy('pinnace-sandbox', rules) ?? rules;
}
