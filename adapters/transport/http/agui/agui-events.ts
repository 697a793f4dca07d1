/** Translates the chunks of a run into the events of AG-UI 1.0. Every event that is opened is closed before the run ends. */

import type { UIMessageChunk } from '../../../../src/contracts/ai-types.ts';
import { createAguiOutcome } from './agui-outcome.ts';
import { createAguiTools } from './agui-tools.ts';
import type { AguiEvent, AguiRun } from './agui-types.ts';

/** The translator of one stream. */
export interface AguiEvents {
  /** The events of a chunk, in order. */
  readonly next: (chunk: UIMessageChunk) => readonly AguiEvent[];
  /** The events that end the run. */
  readonly end: () => readonly AguiEvent[];
}

/** Creates the translator of a stream. */
export function createAguiEvents(run: AguiRun): AguiEvents {
  const { threadId, runId } = run;
  const outcome = createAguiOutcome(run);
  const texts = createSpans('TEXT_MESSAGE', 'assistant');
  const thoughts = createSpans('REASONING_MESSAGE', 'reasoning');
  const tools = createAguiTools(run.knownCalls, () => texts.last());
  let step = 0;
  let isStarted = false;
  let isInStep = false;

  const start = (): readonly AguiEvent[] => {
    if (isStarted) return [];
    isStarted = true;
    const ignored = run.offeredTools.length > 0
      ? [{ type: 'CUSTOM', name: 'tools-not-used', value: run.offeredTools }]
      : [];
    return [{ type: 'RUN_STARTED', threadId, runId, protocolVersion: '1.0' }, ...ignored];
  };
  const endStep = (): readonly AguiEvent[] => {
    const open = [...texts.closeAll(), ...thoughts.closeAll(), ...tools.closeAll()];
    if (!isInStep) return open;
    isInStep = false;
    return [...open, { type: 'STEP_FINISHED', stepName: `step-${step}` }];
  };
  const ofChunk = (chunk: UIMessageChunk): readonly AguiEvent[] => {
    switch (chunk.type) {
      case 'start':
        outcome.messageId = chunk.messageId ?? '';
        texts.prefix = thoughts.prefix = outcome.messageId;
        return [];
      case 'start-step':
        isInStep = true;
        return [{ type: 'STEP_STARTED', stepName: `step-${++step}` }];
      case 'finish-step':
        return endStep();
      case 'text-start':
      case 'text-delta':
      case 'text-end':
        return texts.of(chunk);
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        return thoughts.of(chunk);
      default:
        return [...tools.of(chunk), ...outcome.of(chunk)];
    }
  };
  return {
    next: (chunk) => [...start(), ...ofChunk(chunk)],
    end: () => [...start(), ...endStep(), outcome.end()],
  };
}

interface SpanChunk {
  readonly type: string;
  readonly id: string;
  readonly delta?: string;
}

/** Translates the start, the deltas and the end of texts or thoughts. The id of a text is unique in its chat. */
function createSpans(kind: 'TEXT_MESSAGE' | 'REASONING_MESSAGE', role: string) {
  const open = new Map<string, string>();
  const isReasoning = kind === 'REASONING_MESSAGE';
  let count = 0;
  let last: string | undefined;
  const close = (id: string): readonly AguiEvent[] => {
    const messageId = open.get(id);
    if (messageId === undefined) return [];
    open.delete(id);
    const end = { type: `${kind}_END`, messageId };
    return isReasoning ? [end, { type: 'REASONING_END', messageId }] : [end];
  };
  const spans = {
    prefix: '',
    /** The id of the last message. */
    last: (): string | undefined => last,
    closeAll: (): readonly AguiEvent[] => [...open.keys()].flatMap(close),
    of({ type, id, delta = '' }: SpanChunk): readonly AguiEvent[] {
      if (type.endsWith('-end')) return close(id);
      if (type.endsWith('-delta')) {
        const messageId = open.get(id);
        return messageId === undefined || delta === '' ? [] : [{ type: `${kind}_CONTENT`, messageId, delta }];
      }
      last = `${spans.prefix}-${isReasoning ? 'r' : 't'}${++count}`;
      open.set(id, last);
      const start = { type: `${kind}_START`, messageId: last, role };
      return isReasoning ? [{ type: 'REASONING_START', messageId: last }, start] : [start];
    },
  };
  return spans;
}
