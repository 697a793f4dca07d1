/** The stops of the tour: real messages to real agents, and how each stop is detected as done. */

import { formatCount } from '../../kit/format.ts';
import { numbersCited } from '../../chat/state/citations.ts';
import { answerText, type AssistantMessage } from '../../chat/state/message.ts';
import { planOf } from '../../chat/state/plan.ts';
import { openQuestions } from '../../plan/state/plan-data.ts';
import type { Beside } from '../../app/state/screens.ts';
import {
  brokenOff,
  callsOf,
  done,
  going,
  hasEnded,
  missed,
  type Observed,
  type Progress,
  undecidedCall,
  yours,
} from './progress.ts';

export interface TourStop {
  readonly id: string;
  readonly title: string;
  /** What will happen, in one sentence. */
  readonly before: string;
  /** The label of its start button. */
  readonly button: string;
  readonly agentId: string;
  readonly text: string;
  /** The panel beside the chat. */
  readonly beside?: Beside;
  /** Whether its run may be cut off: that is what the stop shows. */
  readonly survivesCuts?: boolean;
  /** How far it is, once the message was sent. */
  readonly progress: (observed: Observed) => Progress;
}

const card = '.message [data-testid=tool-card]';

/** All of them, in order. */
export const stops: readonly TourStop[] = [
  {
    id: 'call',
    title: 'A tool call',
    before: 'An agent converts a distance: it calls a tool and answers with the result.',
    button: 'Ask the agent',
    agentId: 'navigator',
    text: 'Convert 26.2 miles to kilometers',
    progress({ answer }) {
      const [call] = callsOf(answer);
      if (call?.state !== 'result' || !hasEnded(answer)) return going('The agent works.', call && card);
      return done(
        `The model requested “${call.name}”, and the runtime checked the input and made the call. Open its card to see it.`,
        card,
      );
    },
  },
  {
    id: 'approval',
    title: 'An approval',
    before: 'The agent for notes writes one and then deletes it. A destructive call pauses the run until you decide.',
    button: 'Ask the agent',
    agentId: 'logbook',
    text: 'Add a note: "Throw me overboard", then delete it',
    progress: approval,
  },
  {
    id: 'discovery',
    title: 'One tool of 500',
    before: 'The office agent can use 500 tools and starts with four, which find the others when needed.',
    button: 'Ask the agent',
    agentId: 'purser',
    text: 'Create a ticket called "The anchor winch is stuck"',
    progress: discovery,
  },
  {
    id: 'tree',
    title: 'An edit, undone',
    before: 'The agent adds a task to the tree beside the chat, and you undo it.',
    button: 'Ask the agent',
    agentId: 'bosun',
    text: 'Add a task "Order new anchor chain" to "Rigging and sails"',
    beside: 'tree',
    progress: tree,
  },
  {
    id: 'plan',
    title: 'A plan with sub-agents',
    before:
      'An agent splits a goal among three sub-agents that work in parallel, and asks you what no tool can answer.',
    button: 'Ask the agent',
    agentId: 'commodore',
    text:
      'What time is it in Tokyo; convert 26.2 miles to kilometers; calculate 6 * 7; ask me: which port do we sail for',
    progress: plan,
  },
  {
    id: 'sources',
    title: 'An answer with sources',
    before: 'The agent answers from its files and cites a source for each statement.',
    button: 'Ask the agent',
    agentId: 'almanac',
    text: 'What is an approval bound to?',
    progress: sources,
  },
  {
    id: 'recovery',
    title: 'A failure and a retry',
    before: 'The agent calls a tool and leaves out a field. The error names the field, and the agent tries again.',
    button: 'Make it fail',
    agentId: 'navigator',
    text: 'call convert_units with {"value": 26.2, "from": "mi"}',
    progress: recovery,
  },
  {
    id: 'stream',
    title: 'A stream, interrupted and resumed',
    before: 'An agent writes a long answer. You stop reading in the middle and resume at the same place.',
    button: 'Ask the agent',
    agentId: 'drill',
    text: 'Write a long answer about recovering from failures',
    progress: stream,
  },
  {
    id: 'plug',
    title: 'Pull the plug',
    before: 'An agent works on a plan. You end the worker in the middle of it, and a new worker finishes the plan.',
    button: 'Ask the agent',
    agentId: 'commodore',
    text: 'Call flaky with mode "slow"; calculate 6 * 7; ask me: which port do we sail for',
    survivesCuts: true,
    progress: plug,
  },
];

function approval({ answer }: Observed): Progress {
  const waiting = undecidedCall(answer);
  if (waiting) {
    return yours('The run is paused. Approve or deny the call.', {
      look: '.message [data-testid=approval]',
    });
  }
  const decided = callsOf(answer).findLast((call) => call.approval !== undefined);
  if (decided?.state === 'undecided') return missed('No decision was made and nothing was deleted. Start again.');
  if (!decided || !hasEnded(answer)) return going('The agent works.', '.message [data-testid=tool-card]');
  const isDenied = decided.state === 'denied';
  return done(
    isDenied
      ? 'You denied the call: the tool did not run, the agent received the denial, and the note still exists.'
      : 'You approved this call with this input, the run continued, and the note was deleted.',
    card,
  );
}

function discovery({ answer }: Observed): Progress {
  const calls = callsOf(answer);
  const found = calls.find(({ name, state }) => !name.startsWith('tool_') && state === 'result');
  if (!found || !hasEnded(answer)) return going('The agent looks for a tool.', calls.length > 0 ? card : undefined);
  const saved = answer.facts.value.usage?.toolTokensSaved ?? 0;
  const tokens = saved > 0 ? `, and ${formatCount(saved, 'token')} of definitions were never sent` : '';
  return done(`It searched by keywords, loaded “${found.name}” alone and called it${tokens}.`, '.message .answer-cost');
}

function tree({ answer, activity }: Observed): Progress {
  if (activity?.by === 'you' && activity.text.startsWith('Undid')) {
    return done(
      'You undid the agent’s change. You share one tree, and every change names the version that it is based on.',
      '[data-testid=tree-latest]',
    );
  }
  if (!hasEnded(answer)) return going('The agent looks for the place and adds the task.', '[data-testid=tree-latest]');
  return yours('The task is in the tree. Select Undo below the tree.', { look: '[data-testid=tree-undo]' });
}

function plan({ answer }: Observed): Progress {
  const part = planOf(answer);
  if (!part) return going('The agent divides the goal.');
  const { state, tasks } = part.view.value;
  if (openQuestions(part).length > 0) {
    return yours('Three tasks are done and one question is open. Answer it with the name of any port.', {
      look: '.message [data-testid=plan-question]',
    });
  }
  if (state === 'cancelled' || state === 'failed') return missed('The plan did not finish. Start again.');
  if (state !== 'done' || !hasEnded(answer)) {
    return going('The sub-agents work in parallel.', '.message [data-testid=plan]');
  }
  return done(
    `${
      formatCount(Math.max(0, tasks.length - 1), 'sub-agent')
    } did their parts, your answer was one more, and the plan summed it all up.`,
    '.message [data-testid=plan]',
  );
}

function sources({ answer, isReading }: Observed): Progress {
  if (!hasEnded(answer)) return going('The agent searches its sources. The first time, it indexes the guide.', card);
  if (numbersCited(answerText(answer)).size === 0) return missed('It found nothing to cite. Start again.');
  if (!isReading) {
    return yours('Each number cites a passage. Select one.', { look: '.message [data-testid=citation]' });
  }
  return done(
    'The citation opened the lines that support the statement. Nothing comes from the model’s memory.',
    '[data-testid=knowledge-panel] [data-place=true]',
  );
}

function recovery({ answer }: Observed): Progress {
  const calls = callsOf(answer);
  const isFixed = calls.some(({ state }) => state === 'error') && calls.at(-1)?.state === 'result';
  if (!hasEnded(answer)) return going('The first call fails.', card);
  if (!isFixed) return missed('The agent did not try again. Start again.');
  return done('The runtime rejected the input with a reason, the model read it, and the second call succeeded.', card);
}

function stream({ answer, run }: Observed): Progress {
  const { leftAt = [], isLeft = false } = run?.reading.value ?? {};
  if (hasEnded(answer)) {
    return leftAt.length > 0
      ? done(
        `Reading stopped after chunk ${
          leftAt.join(' and ')
        }. The run’s log stored the chunks after it, and you resumed there: nothing twice, nothing lost.`,
      )
      : missed('The answer finished first. Try again?');
  }
  if (isLeft) {
    return yours('The run continues in the worker. Resume reading.', {
      look: '.message [data-testid=left-reading]',
      act: 'read-on',
    });
  }
  if (leftAt.length > 0) return going('The rest comes from the log, then live.', '.message');
  if (!isSpeaking(answer)) return going('The agent starts to write.');
  return yours('It is writing. Stop reading now; the page does so in the middle.', {
    look: '.message',
    act: 'leave',
    isDue: answerText(answer).length > middle,
  });
}

/** So many characters of the answer lie well before its end. */
const middle = 900;

function plug({ answer, wasPulled }: Observed): Progress {
  const part = planOf(answer);
  if (!part) return going('The agent divides the goal.');
  const { state } = part.view.value;
  const board = '.message [data-testid=plan]';
  if (state === 'cancelled' || state === 'failed') return missed('The plan did not finish. Start again.');
  if (!wasPulled) {
    return state === 'done'
      ? missed('The plan finished before you ended the worker. Start again.')
      : yours('A tool call takes five seconds. Pull the plug now: it ends the worker and reloads the page.', {
        look: board,
        act: 'pull',
      });
  }
  if (openQuestions(part).length > 0) {
    return yours('The new worker has the plan, and its question is still open. Answer it with any port.', {
      look: '.message [data-testid=plan-question]',
    });
  }
  if (state !== 'done' || !hasEnded(answer)) {
    return going('The new worker takes over within a few seconds and repeats the interrupted call.', board);
  }
  return done(
    'The worker ended in the middle, and nothing was lost: a new one read the plan’s log, kept the finished tasks, and completed the plan.',
    board,
  );
}

function isSpeaking(answer: AssistantMessage): boolean {
  return answerText(answer).length > 0;
}

/** A stop's progress; an interrupted run must start again. */
export function progressOf(stop: TourStop, observed: Observed): Progress {
  const cut = stop.survivesCuts ? undefined : brokenOff(observed.answer);
  const progress = cut ?? stop.progress(observed);
  return progress.type === 'going' && hasEnded(observed.answer)
    ? missed('It ended without the expected result. Start again.')
    : progress;
}
