/** What is found in other places of the page: tools of agents, runs, and parts of files. */

import type { FilePart } from '../../../control/knowledge-control.ts';
import type { RunHead } from '../../../control/runs-control.ts';
import { stateOfRun, wordOfRun } from '../../../kit/run-status.tsx';
import type { Excerpt } from '../../../control/search-control.ts';
import { showAgents, showPlace, showRun } from '../../../app/state/screens.ts';
import { runTitles } from '../../../runs/state/run-title.ts';
import { agentOf, type Playground } from '../../../app/state/playground.ts';
import type { Command } from './command.ts';

/** The tools of all agents, each once. */
export function toolCommands(playground: Playground): readonly Command[] {
  const tools = new Map(
    playground.agents.toReversed()
      .flatMap(({ tools: own, name: agent }) => own.map((tool) => [tool.name, { ...tool, agent }])),
  );
  return [...tools.values()].map(({ name, title, description, agent }) => ({
    id: `tool-${name}`,
    icon: 'records',
    title,
    hint: agent,
    group: 'Tools',
    words: name,
    about: description,
    go: () => showAgents(playground, { section: 'tool', record: name, where: 'page' }),
  }));
}

/** The runs of the page, by their questions. */
export function runCommands(playground: Playground, runs: readonly RunHead[]): readonly Command[] {
  const titleOf = runTitles(playground, runs);
  return runs.map((run) => {
    const { name } = agentOf(playground.agents, run.agentId);
    return {
      id: `run-${run.traceId}`,
      icon: 'waterfall',
      title: titleOf(run),
      hint: `${name}, ${wordOfRun(stateOfRun(run))}`,
      group: 'Runs',
      words: `run ${name} ${run.traceId}`,
      go: () => showRun(playground, { traceId: run.traceId }),
    };
  });
}

/** A file that was found, at its part. */
export function fileCommand(
  playground: Playground,
  file: string,
  { part, excerpt }: { readonly part: FilePart | undefined; readonly excerpt: Excerpt | undefined },
): Command {
  const { piece = 0, lines } = part ?? {};
  return {
    id: `file-${file}`,
    icon: 'file',
    title: file,
    hint: 'File',
    group: 'Files',
    ...(excerpt && { excerpt }),
    go: () => showPlace(playground, { file, piece, ...(lines && { lines }) }),
  };
}
