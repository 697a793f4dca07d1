/** The texts and reasonings of one answer that are being written. */

import { createTextPart, type Part, type ReasoningPart, type TextPart } from './message.ts';

type Kind = 'text' | 'reasoning';

/** What is being written, by kind and id. An id may come again after its end and is another part then. */
export interface Texts {
  start(kind: Kind, id: string): TextPart | ReasoningPart;
  /** Appends; starts a text whose start did not arrive. */
  append(kind: Kind, chunk: { readonly id: string; readonly delta: string }): void;
  end(kind: Kind, id: string): void;
  endAll(): void;
}

/** Creates the texts of one answer; `add` appends a part to it. */
export function createTexts(add: (part: Part) => void): Texts {
  const open = new Map<string, TextPart | ReasoningPart>();

  function start(kind: Kind, id: string): TextPart | ReasoningPart {
    const part = createTextPart(kind);
    open.set(`${kind} ${id}`, part);
    add(part);
    return part;
  }

  return {
    start,
    append(kind, { id, delta }) {
      if (typeof delta !== 'string') return;
      const { text } = open.get(`${kind} ${id}`) ?? start(kind, id);
      text.value += delta;
    },
    end(kind, id) {
      const part = open.get(`${kind} ${id}`);
      if (part) part.done.value = true;
      open.delete(`${kind} ${id}`);
    },
    endAll() {
      for (const part of open.values()) part.done.value = true;
      open.clear();
    },
  };
}
