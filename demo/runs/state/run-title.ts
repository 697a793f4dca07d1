/** What a run is called wherever it is named. */

import { agentOf, type Playground } from '../../app/state/playground.ts';
import type { RunHead } from '../../control/runs-control.ts';

type Named = Pick<RunHead, 'traceId' | 'agentId'> & Partial<RunHead>;

/** Names runs by their questions; without one by the chat, as far as chats have been read, or by the agent. A fork is called after its run. */
export function runTitles({ agents, chats }: Playground, heads: readonly Named[] = []): (run: Named) => string {
  const inChats = new Map(
    chats.list.value.flatMap(({ title, messages }) =>
      messages.value.flatMap((message): [string | undefined, string][] =>
        message.role === 'assistant' ? [[message.facts.value.run?.traceId, title.value]] : []
      )
    ),
  );
  const titleOf = ({ traceId, agentId, question }: Named): string =>
    question ?? inChats.get(traceId) ?? `Run of ${agentOf(agents, agentId).name}`;
  return (run) => {
    if (run.forkOf === undefined) return titleOf(run);
    const parent = heads.find(({ runId }) => runId === run.forkOf);
    return parent ? `Fork of “${titleOf(parent)}”` : 'Fork of another run';
  };
}
