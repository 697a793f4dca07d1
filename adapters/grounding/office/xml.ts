/** Reads XML as a stream of elements. Document types and external entities are not processed (XML 1.0, Namespaces 1.0). */

import { SaxesParser } from 'saxes';
import { PinnaceError } from '../../../src/base/errors.ts';
import type { Turns } from '../turns.ts';

/** Attributes by their names as they are written, with prefix. */
export type Attributes = Readonly<Record<string, string>>;

/** Receives what a document holds, in its order. Elements have no prefix: those of office files are fixed. */
export interface XmlHandler {
  readonly open?: (name: string, attributes: Attributes) => void;
  readonly close?: (name: string) => void;
  readonly text?: (text: string) => void;
}

/** Read between two turns. */
const chunkLength = 65_536;

/** Reads the document. @throws PinnaceError `invalid_argument` with the reason `invalid_document` for what is not well-formed. */
export async function readXml(bytes: Uint8Array<ArrayBuffer>, handler: XmlHandler, turns: Turns): Promise<void> {
  const parser = new SaxesParser<{ xmlns: false; position: false }>({ xmlns: false, position: false });
  parser.on('opentag', ({ name, attributes }) => handler.open?.(localName(name), attributes));
  parser.on('closetag', ({ name }) => handler.close?.(localName(name)));
  parser.on('text', (text) => handler.text?.(text));
  parser.on('cdata', (text) => handler.text?.(text));
  const text = decode(bytes);
  try {
    for (let at = 0; at < text.length; at += chunkLength) {
      parser.write(text.slice(at, at + chunkLength));
      await turns.next();
    }
    parser.close();
  } catch (cause) {
    if (cause instanceof PinnaceError) throw cause;
    throw invalidDocument('a part of it is not well-formed XML', cause);
  }
}

/** An `invalid_argument` about the file, with the reason `invalid_document`. */
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
