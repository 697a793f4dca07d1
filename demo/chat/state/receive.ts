/** Turns the chunks of a stream into the parts of an answer. A delta costs one string concatenation, whatever the answer's length. */

import { batch } from '@preact/signals';
import type { UIMessageChunk } from '../../../src/contracts/ai-types.ts';
import type { StoredAttachment } from '../../files/state/attached-file.ts';
import type { AssistantMessage, Outcome, Part } from './message.ts';
import { cancelPlan, planOf } from './plan.ts';
import { type Draft, handlerOf } from './receive-chunk.ts';
import { readAs, Usage } from './run-data.ts';
import { createTexts } from './texts.ts';
import { createToolCalls } from './tool-calls.ts';

/** Takes in chunks, in whatever order they come, until the answer has ended. */
export interface Receiver {
  receive(chunk: UIMessageChunk): void;
  /** Ends the answer when the stream did not: stopped by a person, or broken off. Does nothing after the end. */
  end(outcome: Outcome): void;
}

interface ReceiverOptions {
  readonly now: () => number;
  /** Called with the address of a file that the run has stored. */
  readonly onStored?: ((stored: StoredAttachment) => void) | undefined;
  /** Returns who stopped the run, when its stream reports a stop. */
  readonly stoppedBy?: () => 'person' | 'runtime';
}

/** Creates a receiver that fills `message`, or goes on where it waited. What it does not know, and what comes after the end, it leaves alone. */
export function createReceiver(
  message: AssistantMessage,
  { now, onStored = () => undefined, stoppedBy = () => 'runtime' }: ReceiverOptions,
): Receiver {
  const add = (part: Part): void => void (message.parts.value = [...message.parts.value, part]);
  const draft: Draft = {
    message,
    add,
    now,
    onStored,
    stoppedBy,
    end,
    texts: createTexts(add),
    calls: createToolCalls({ add, now, known: message.parts.value }),
    approvals: new Map(),
    usedBefore: usedBefore(message),
  };

  function end(outcome: Outcome): void {
    if (message.outcome.value.type !== 'running') return;
    batch(() => {
      draft.texts.endAll();
      draft.calls.settleAll();
      if (outcome.type === 'stopped' && outcome.by === 'person') cancelPlan(message);
      message.retry.value = undefined;
      message.outcome.value = outcome;
    });
  }

  return {
    end,
    receive(chunk) {
      const handle = handlerOf(chunk);
      if (message.outcome.value.type !== 'running') return;
      batch(() => {
        message.retry.value = undefined; // whatever comes next, the call is made
        handle?.(draft, chunk);
      });
    },
  };
}

/** Each run that follows a plan reports the plan's total usage: only the time adds up. */
function usedBefore(message: AssistantMessage): Usage | undefined {
  const { usage } = message.facts.value;
  return usage && planOf(message) ? readAs(Usage, { durationMs: usage.durationMs }) : usage;
}
