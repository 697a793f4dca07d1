/** Whom a request is for: a back end that signs for many persons names one in `Pinnace-Subject`, where its credentials say whom it may name. */

import { wrongArgument } from '../../src/base/check-options.ts';
import { PinnaceError } from '../../src/base/errors.ts';
import { isPrincipalName } from '../../src/base/principal.ts';

/** The header that names the owner of what a request creates. A signature must cover it. */
export const subjectHeader = 'pinnace-subject';

/** Whom the credentials of a caller stand for, and whom it may name instead. */
export interface Caller {
  readonly subject: string;
  /** Who speaks for the subject, where the credentials say so. */
  readonly actor?: string | undefined;
  /** The subjects that a request may name: whole names, or prefixes with `*`. None when absent. */
  readonly actFor?: readonly string[] | undefined;
}

/**
 * Returns the owner of what a request creates, and who speaks for it: without the header, those of the credentials. A caller that names
 * another is the actor, unless its credentials name one.
 *
 * @throws PinnaceError `invalid_argument` (reason `invalid_subject`) for a header that is no name, and `forbidden` (reason
 * `not_delegated`) for a subject that the credentials do not allow.
 */
export function actingFor(
  { headers }: Request,
  { subject, actor, actFor = [] }: Caller,
): { readonly subject: string; readonly actor?: string } {
  const named = headers.get(subjectHeader) ?? subject;
  if (named === subject) return { subject, ...(actor !== undefined && { actor }) };
  if (!isSubjectHeader(named)) {
    throw new PinnaceError(
      'invalid_argument',
      'Cannot read Pinnace-Subject: send one name of 1 to 256 visible ASCII characters, without commas',
      { details: { reason: 'invalid_subject' } },
    );
  }
  if (!actFor.some((pattern) => matches(named, pattern))) throw notDelegated();
  return { subject: named, actor: actor ?? subject };
}

/** Checks that an authenticator has heeded the header: one that ignores it would file what is another's under the caller. */
export function requireNamedSubject({ headers }: Request, { subject }: Pick<Caller, 'subject'>): void {
  if ((headers.get(subjectHeader) ?? subject) !== subject) throw notDelegated();
}

function notDelegated(): PinnaceError {
  return new PinnaceError(
    'forbidden',
    'Cannot act for the subject of Pinnace-Subject: the credentials of the caller do not allow it',
    { details: { reason: 'not_delegated' } },
  );
}

/** Whether a text can be sent as the header: two headers are joined by a comma, and characters beyond ASCII depend on the server. */
export function isSubjectHeader(text: unknown): text is string {
  return isPrincipalName(text) && /^[\x21-\x2b\x2d-\x7e]+$/.test(text);
}

function matches(name: string, pattern: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

/** The most patterns of one caller. */
const mostPatterns = 64;

/** Whether a value lists subjects that a caller may name. */
export function isActFor(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length <= mostPatterns && value.every(isPattern);
}

/** A star within a name would read as a wildcard and be none. */
function isPattern(value: unknown): boolean {
  return isPrincipalName(value) && !value.slice(0, -1).includes('*');
}

/** Checks roles and subjects of a caller that a composition configures. @throws PinnaceError `invalid_argument`. */
export function checkDelegation(
  action: string,
  { actFor, roles }: { readonly actFor?: unknown; readonly roles?: unknown },
): void {
  if (actFor !== undefined && !isActFor(actFor)) {
    throw wrongArgument(action, 'actFor', '"actFor" must be an array of names and prefixes, such as ["shop:*"]');
  }
  if (roles !== undefined && !isRoles(roles)) {
    throw wrongArgument(action, 'roles', '"roles" must be an array of names, such as ["finance"]');
  }
}

/** Whether a value lists roles. */
export function isRoles(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length <= mostPatterns && value.every(isPrincipalName);
}
