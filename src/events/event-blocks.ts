/**
 * Observed events in blocks, for sinks that store every event: each block is one value with one hash. Queries read whole blocks.
 */

import { createEventChain, type EventChain, type EventLogOptions } from './event-chain.ts';
import { createPlaces, eventFields, type Places } from './event-query.ts';
import { type Draft, type Link, maxPlaces, type RecordForm, type StoredEvent } from './event-records.ts';
import type { ObservedEvent } from '../contracts/event-sink.ts';

/** A log of blocks. */
export type EventBlocks = EventChain<StoredEvent>;

/** Opens the log. All instances over one storage write one chain. Each `append` writes blocks of its own. */
export function createEventBlocks(options: EventLogOptions): EventBlocks {
  return createEventChain(inBlocks, options);
}

/** The most text of a block with several events: a query reads and parses whole blocks. */
const maxLength = 60_000;

const maxEvents = 200;

/** A stored block. Its text has the number of its first event, so that the hash covers it. */
interface Block extends Link {
  /** JSON: `{ seq, events }`. */
  readonly text: string;
}

const inBlocks: RecordForm<StoredEvent> = {
  root: 'event-blocks',
  records: 'block',
  most: maxEvents,
  readAtOnce: 20,
  draft: cutBlocks,
  eventsOf: (record) => eventsOf(textOf(record)),
  textOf,
};

function textOf(record: Link): string {
  return (record as Block).text; // only made below
}

interface OpenBlock {
  readonly texts: string[];
  readonly places: Places;
  length: number;
}

function cutBlocks(events: readonly ObservedEvent[]): readonly Draft[] {
  const blocks: OpenBlock[] = [];
  for (const event of events) {
    const text = JSON.stringify(event);
    let block = blocks.at(-1);
    if (!block || isFull(block, text)) {
      block = { texts: [], places: createPlaces(), length: 0 };
      blocks.push(block);
    }
    block.texts.push(text);
    block.places.add(event);
    block.length += text.length + 1;
  }
  return blocks.map(draftOf);
}

function isFull({ texts, length, places }: OpenBlock, next: string): boolean {
  return texts.length >= maxEvents || length + next.length > maxLength || places.size + eventFields.length > maxPlaces;
}

function draftOf({ texts, places }: OpenBlock): Draft {
  const events = texts.join(',');
  return {
    count: texts.length,
    places: places.keys(),
    textAt: (seq) => `{"seq":${seq},"events":[${events}]}`,
    recordOf: (_seq, text, { prevHash, hash }): Block => ({ text, prevHash, hash }),
  };
}

/** A damaged text has no events: `verify` reports it. */
function eventsOf(text: string): readonly StoredEvent[] {
  try {
    const { seq, events } = JSON.parse(text) as { seq: number; events: readonly ObservedEvent[] }; // as written
    return events.map((event, i) => ({ seq: seq + i, event }));
  } catch {
    return [];
  }
}
