/** The one place from which this page starts scripts, by addresses below its own folder. See `csp.ts`: the page's policy knows no other. */

/** As much of Trusted Types as is used here; the types of a page do not know it yet. */
interface TrustedTypePolicies {
  createPolicy(
    name: string,
    rules: { readonly createScriptURL: (url: string) => string },
  ): { createScriptURL(url: string): string };
}

/** Cannot be parsed, so nothing is fetched from there. */
const noAddress = 'http://';

const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypePolicies };
const policy = trustedTypes?.createPolicy('pinnace', {
  createScriptURL: (url) => url === noAddress ? url : checkOwn(url),
});

/**
 * Returns the address of a script as `Worker` and its like take it.
 *
 * @throws TypeError where the address does not lie below the page's folder.
 */
export function ownScript(url: string): string {
  return policy ? policy.createScriptURL(url) : checkOwn(url);
}

/** Returns an address that every constructor of a worker refuses, after it has read its options. */
export function scriptOfNoAddress(): string {
  return policy ? policy.createScriptURL(noAddress) : noAddress;
}

function checkOwn(url: string): string {
  const { href } = new URL(url, document.baseURI);
  if (!href.startsWith(new URL('./', document.baseURI).href)) {
    throw new TypeError(`Cannot start a script from outside the page's folder: "${href}"`);
  }
  return href;
}
