/** Reads XML as a stream of elements. Document types and external entities are not processed (XML 1.0, Namespaces 1.0). */

import { SaxesParser } from 'saxes';
import { PinnaceError } from '../../../src/base/errors.ts';
import type { Turns } from '../../../src/base/turns.ts';

/** Attributes by their names, with the usual prefix of their namespace, whatever the document calls it. */
export type Attributes = Readonly<Record<string, string>>;

/** Receives what a document holds, in its order. Elements have no prefix: those of office files are fixed. */
export interface XmlHandler {
  readonly open?: (name: string, attributes: Attributes) => void;
  readonly close?: (name: string) => void;
  readonly text?: (text: string) => void;
}

/** Read between two turns. */
const chunkLength = 16_384;

/** What XML does not allow, and some programs write: it is no reason to lose a file. */
const noCharacter =
  /(?![\t\n\r\u0080-\u009f])[\p{Cc}\ufffe\uffff]|&#(?:x0*(?:[0-8bcef]|1[\da-f])|0*(?:[0-8]|1[124-9]|2\d|3[01]));/giu;

/** Reads the document. @throws PinnaceError `invalid_argument` with the reason `invalid_document` for what is not well-formed. */
export async function readXml(
  bytes: Uint8Array<ArrayBuffer>,
  handler: XmlHandler,
  { turns, path }: { readonly turns: Turns; readonly path: string },
): Promise<void> {
  const parser = new SaxesParser<{ xmlns: false; position: false }>({ xmlns: false, position: false });
  const namespaces = new Namespaces();
  let fallbacks = 0; // what is in one was read before, for programs that know more
  parser.on('opentag', ({ name, attributes }) => {
    const known = namespaces.open(attributes);
    if (localName(name) === 'Fallback') fallbacks++;
    if (fallbacks === 0) handler.open?.(localName(name), known);
  });
  parser.on('closetag', ({ name }) => {
    namespaces.close();
    if (fallbacks === 0) handler.close?.(localName(name));
    else if (localName(name) === 'Fallback') fallbacks--;
  });
  const say = (text: string): void => fallbacks === 0 ? handler.text?.(text) : undefined;
  parser.on('text', say);
  parser.on('cdata', say);
  const text = decode(bytes).replace(noCharacter, '');
  try {
    for (let at = 0; at < text.length; at += chunkLength) {
      parser.write(text.slice(at, at + chunkLength));
      await turns.next();
    }
    parser.close();
  } catch (cause) {
    if (cause instanceof PinnaceError) throw cause;
    throw invalidDocument(`"${path}" in it is not well-formed XML`, cause);
  }
}

/** The prefixes that the readers know, by the ends of namespaces: those of ISO/IEC 29500 have two beginnings. */
const usualPrefixes: readonly (readonly [ending: RegExp, prefix: string])[] = [
  [/\/officeDocument\/(?:2006\/)?relationships$/, 'r'],
  [/\/wordprocessingml\/(?:2006\/)?main$/, 'w'],
  [/^urn:oasis:names:tc:opendocument:xmlns:text:/, 'text'],
  [/^urn:oasis:names:tc:opendocument:xmlns:table:/, 'table'],
  [/^urn:oasis:names:tc:opendocument:xmlns:presentation:/, 'presentation'],
];

/** What prefixes mean where the reader is. A prefix that was not declared means itself. */
class Namespaces {
  /** For each open element, what its prefixes meant before it; nothing for one that declares none. */
  readonly #before: (ReadonlyMap<string, string> | undefined)[] = [];
  #meanings: ReadonlyMap<string, string> = new Map();

  open(attributes: Record<string, string>): Attributes {
    const declared = Object.keys(attributes).filter((name) => name.startsWith('xmlns:'));
    this.#before.push(declared.length > 0 ? this.#meanings : undefined);
    if (declared.length > 0) this.#declare(attributes, declared);
    if (this.#meanings.size === 0) return attributes;
    return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [this.#usual(name), value]));
  }

  close(): void {
    this.#meanings = this.#before.pop() ?? this.#meanings;
  }

  /** Only prefixes that are not the usual ones are held: most documents have none. */
  #declare(attributes: Attributes, names: readonly string[]): void {
    const meanings = new Map(this.#meanings);
    for (const name of names) {
      const prefix = name.slice('xmlns:'.length);
      const uri = attributes[name] ?? '';
      const usual = usualPrefixes.find(([ending]) => ending.test(uri))?.[1];
      const isTaken = usual === undefined && usualPrefixes.some(([, known]) => known === prefix);
      if (isTaken) meanings.set(prefix, 'other');
      else if (usual !== undefined && usual !== prefix) meanings.set(prefix, usual);
      else meanings.delete(prefix);
    }
    this.#meanings = meanings;
  }

  #usual(name: string): string {
    const colon = name.indexOf(':');
    const meaning = colon < 0 ? undefined : this.#meanings.get(name.slice(0, colon));
    return meaning === undefined ? name : `${meaning}:${name.slice(colon + 1)}`;
  }
}

export function invalidDocument(why: string, cause?: unknown): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot read the office file: ${why}`, {
    details: { reason: 'invalid_document' },
    ...(cause !== undefined && { cause }),
  });
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

function decode(bytes: Uint8Array<ArrayBuffer>): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  return new TextDecoder().decode(bytes);
}
