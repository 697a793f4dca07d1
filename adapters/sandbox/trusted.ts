/** Trusted Types for the sandbox's frame and modules. A page that requires them must allow the policy `pinnace-sandbox`. */

/** The part of Trusted Types used here. Only browsers have it. */
interface TrustedTypePolicies {
  createPolicy<Rules>(name: string, rules: Rules): Rules;
}

interface Rules {
  readonly createHTML: (html: string) => string;
  readonly createScriptURL: (url: string) => string;
}

/**
 * Returns the functions that mark the sandbox's frame and modules as trusted. The browser rejects all others.
 *
 * Throws if the policy is forbidden, or if another script has created it.
 */
export function trustOwn(): Rules {
  const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypePolicies };
  const rules: Rules = { createHTML: (html) => html, createScriptURL: (url) => url };
  return trustedTypes?.createPolicy('pinnace-sandbox', rules) ?? rules;
}
