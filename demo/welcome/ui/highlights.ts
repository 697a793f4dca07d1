/** What an empty page offers first: one message for each thing that Pinnace does, each to the agent that shows it. */

import type { AgentCard } from '../../app/worker/control.ts';

/** A message that runs with one click. */
export interface Highlight {
  readonly agentId: string;
  /** What the answer shows. */
  readonly shows: string;
  readonly text: string;
}

const all: readonly Highlight[] = [
  {
    agentId: 'navigator',
    shows: 'Two tool calls at once',
    text: 'What time is it in Tokyo, and how far is 26.2 miles in kilometers?',
  },
  { agentId: 'logbook', shows: 'An approval', text: 'Add a note: "Throw me overboard", then delete it' },
  {
    agentId: 'commodore',
    shows: 'A plan with sub-agents',
    text: 'What time is it in Berlin; calculate 1250 * 12; convert 5 knots to km/h',
  },
  { agentId: 'almanac', shows: 'An answer with sources', text: 'What is an approval bound to?' },
];

/** Returns the messages, or none where one of their agents was removed. */
export function highlightsFor(agents: readonly AgentCard[]): readonly Highlight[] {
  return all.every(({ agentId }) => agents.some(({ id }) => id === agentId)) ? all : [];
}
