/** Keeps values of secrets out of the registry: records name secrets, and what looks like a value is refused. */

import type { CatalogRecords, RecordKind } from './record-kinds.ts';
import { invalid, type Issue } from '../base/parse.ts';

/** Names under which people write credentials, without case, `-` and `_`. */
const names: ReadonlySet<string> = new Set([
  'accesstoken',
  'apikey',
  'apitoken',
  'authorization',
  'authtoken',
  'bearertoken',
  'clientsecret',
  'connectionstring',
  'cookie',
  'credential',
  'credentials',
  'passphrase',
  'passwd',
  'password',
  'privatekey',
  'proxyauthorization',
  'refreshtoken',
  'secret',
  'secretaccesskey',
  'secretkey',
  'token',
  'xapikey',
]);

/**
 * Refuses a record that holds what looks like a credential: a text under such a name in its `config` or its
 * `modelSettings.providerOptions` that is no template, or a user name or password in its address.
 *
 * @throws PinnaceError `invalid_argument` that names the places and repeats no value.
 */
export function refuseSecrets(record: CatalogRecords[RecordKind], what: string): void {
  const issues = [
    ...('config' in record ? issuesIn(record.config, 'config') : []),
    ...('modelSettings' in record
      ? issuesIn(record.modelSettings?.providerOptions, 'modelSettings.providerOptions')
      : []),
    ...('baseUrl' in record ? addressIssues(record.baseUrl, 'baseUrl') : []),
    ...('url' in record ? addressIssues(record.url, 'url') : []),
  ];
  if (issues.length > 0) throw invalid(what, issues);
}

function issuesIn(value: unknown, path: string): readonly Issue[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, item]: [string, unknown]) => {
    const place = `${path}.${name.replace(/[^\w$-]/g, '?').slice(0, 64)}`;
    return isCredential(name, item)
      ? [{ path: place, message: 'must name a secret, like {{secret:NAME}}, and not be its value' }]
      : issuesIn(item, place);
  });
}

/** A template's value is put in later: by the input, or by the source of secrets. */
function isCredential(name: string, value: unknown): boolean {
  return typeof value === 'string' && value !== '' && !value.includes('{') &&
    names.has(name.toLowerCase().replace(/[-_]/g, ''));
}

function addressIssues(address: string | undefined, path: string): readonly Issue[] {
  const url = address === undefined ? null : URL.parse(address);
  return url && (url.username !== '' || url.password !== '')
    ? [{ path, message: 'must have no user name and no password' }]
    : [];
}
