/** Reads a request's body as JSON, and computes the fingerprint of the request. */

import type * as v from 'valibot';
import { PinnaceError } from '../../../src/base/errors.ts';
import { parseRepairedJson } from '../../../src/base/json.ts';
import { parse } from '../../../src/base/parse.ts';
import { readBody } from '../signed/body.ts';
import { sha256OfText } from '../../../src/base/hash.ts';

/** A body that was parsed. */
export interface JsonBody {
  readonly data: unknown;
  /** SHA-256 over the path, the query and the text. */
  readonly fingerprint: string;
}

/**
 * Reads the body. Texts that were cut within a character are repaired, unless `parseText` refuses them.
 *
 * @throws PinnaceError with status 400, 413 or 415 unless it is JSON in UTF-8 within the limit of its route.
 */
export async function readJson(
  request: Request,
  { parseText = parseRepairedJson }: { readonly parseText?: ((text: string) => unknown) | undefined } = {},
): Promise<JsonBody> {
  const contentType = request.headers.get('content-type') ?? '';
  if (!/^application\/json\s*(;|$)/i.test(contentType)) {
    throw new PinnaceError('content_type_not_supported', 'Cannot read the body: send it as application/json');
  }
  if (request.headers.has('content-encoding')) {
    throw new PinnaceError('content_encoding_not_allowed', 'Cannot read the body: send it without content-encoding');
  }
  const text = decodeUtf8(await readBody(request));
  return { data: parseText(text), fingerprint: await fingerprintOf(request, text) };
}

/** Reads and parses the body; `what` names it in errors. @throws PinnaceError as `readJson`, and `invalid_argument`. */
export async function readAs<S extends v.GenericSchema<unknown, unknown>>(
  request: Request,
  schema: S,
  { what, parseText }: { readonly what: string; readonly parseText?: (text: string) => unknown },
): Promise<v.InferOutput<S>> {
  return parse(schema, (await readJson(request, { parseText })).data, { what });
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new PinnaceError('invalid_argument', 'Cannot read the body: it is not UTF-8', {
      details: { reason: 'malformed_text' },
    });
  }
}

async function fingerprintOf({ url }: Request, text: string): Promise<string> {
  const { pathname, search } = new URL(url);
  return await sha256OfText(`${pathname}\n${search}\n${text}`);
}
