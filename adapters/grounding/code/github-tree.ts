/** A repository behind the HTTP API of GitHub, or of a host with the same API, at one commit. */

import { checkNames, optional } from '../../../src/base/check-options.ts';
import * as v from 'valibot';
import { type ErrorCode, PinnaceError } from '../../../src/base/errors.ts';
import { parse } from '../../../src/base/parse.ts';
import type { Egress } from '../../../src/contracts/egress.ts';
import { readText } from '../../../src/base/read-text.ts';
import type { Secret } from '../../../src/base/secret.ts';
import { type CodeFile, type CodeTree, isWanted } from './tree.ts';

export type { CodeTree } from './tree.ts';

/** Which repository, and how it is reached. */
export interface GitHubTreeOptions {
  /** Sends the requests. */
  readonly egress: Egress;
  /** The owner of the repository. */
  readonly owner: string;
  /** The name of the repository. */
  readonly repo: string;
  /** A branch, tag or commit; the default branch when absent. */
  readonly ref?: string;
  /** The origin of the API; `https://api.github.com` when absent. */
  readonly origin?: string;
  /** A token that may read the contents, resolved for this tenant; without one only what is public can be read. */
  readonly token?: Secret;
}

const Commit = v.object({ sha: v.string(), commit: v.object({ tree: v.object({ sha: v.string() }) }) });
const Tree = v.object({
  truncated: v.optional(v.boolean(), false),
  tree: v.array(v.object({ path: v.string(), type: v.string(), sha: v.string(), size: v.optional(v.number(), 0) })),
});
const Blob = v.object({ content: v.string(), encoding: v.literal('base64') });

const mostBytes = 24_000_000;

/** Returns the repository. Each file is one request, sent when it is read, through the guarded way out and nowhere else. */
export function gitHubTree(options: GitHubTreeOptions): CodeTree {
  checkNames('read the repository', options, optional('owner', 'repo', 'ref', 'egress', 'origin', 'token'));
  const { owner, repo, ref = 'HEAD' } = options;
  const base = `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(repo)}`;
  return async (signal) => {
    const { sha, commit } = await fetchJson(Commit, `${base}/commits/${encodeURIComponent(ref)}`, {
      ...options,
      signal,
    });
    const listing = await fetchJson(Tree, `${base}/git/trees/${encodeURIComponent(commit.tree.sha)}?recursive=1`, {
      ...options,
      signal,
    });
    if (listing.truncated) {
      throw new PinnaceError('budget_exceeded', 'Cannot read the repository: it has too many files for its API', {
        details: { reason: 'repository_too_large' },
      });
    }
    const files = listing.tree.filter(({ type, path }) => type === 'blob' && isWanted(path)).map(
      (file): CodeFile => ({
        path: file.path,
        size: file.size,
        async read(until) {
          const blob = await fetchJson(Blob, `${base}/git/blobs/${encodeURIComponent(file.sha)}`, {
            ...options,
            signal: until,
          });
          return Uint8Array.from(atob(blob.content.replace(/\s/g, '')), (sign) => sign.charCodeAt(0));
        },
      }),
    );
    return { repo: `${owner}/${repo}`, commit: sha, files: each(files) };
  };
}

async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

async function fetchJson<S extends v.GenericSchema<unknown, unknown>>(
  schema: S,
  path: string,
  { egress, origin = 'https://api.github.com', token, signal }: GitHubTreeOptions & { readonly signal: AbortSignal },
): Promise<v.InferOutput<S>> {
  const headers = { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' };
  const answer = await egress.fetch(new Request(new URL(path, origin), { headers }), {
    origins: [new URL(origin).origin],
    maxBytes: mostBytes,
    signal,
    ...(token && { secretHeaders: { authorization: ['Bearer ', token] } }),
  });
  if (!answer.ok) throw refusedBy(answer.status);
  return parse(schema, JSON.parse(await readText(answer.body)), { what: 'the answer of the code host' });
}

function refusedBy(status: number): PinnaceError {
  const codes: Readonly<Record<number, ErrorCode>> = {
    401: 'forbidden',
    403: 'forbidden',
    404: 'not_found',
    429: 'rate_limited',
  };
  return new PinnaceError(
    codes[status] ?? 'unavailable',
    `Cannot read the repository: the code host answered ${status}`,
    {
      details: { reason: 'code_host', status },
    },
  );
}
