/** Says in errors what a field is called here that other libraries call otherwise. */

import type * as v from 'valibot';

/** Returns the messages of an object's schema: for a field that is unknown or missing, what to use by `advice`. */
export function otherNames(
  advice: Readonly<Record<string, string>>,
): (issue: v.StrictObjectIssue | v.LooseObjectIssue) => string {
  return ({ expected, path }) => {
    const name = String(path?.at(-1)?.key);
    const isUnknown = expected === 'never';
    if (!Object.hasOwn(advice, name) || (!isUnknown && expected !== `"${name}"`)) return ''; // the usual text
    return `is ${isUnknown ? 'not known here' : 'missing'}; use ${advice[name]}`;
  };
}
