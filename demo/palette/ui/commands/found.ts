/** What is found in other places of the page: tools of agents, runs, and passages of files. */

import type { FoundPart } from '../../../control/knowledge-control.ts';
import type { RunHead } from '../../../control/runs-control.ts';
import { stateOfRun, wordOfRun } from '../../../kit/run-status.tsx';
import { snippetOf } from '../../../knowledge/ui/marked-text.tsx';
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
    words: `${name} ${description}`,
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

/** Passages of files, the best first. */
export function fileCommands(playground: Playground, parts: readonly FoundPart[]): readonly Command[] {
  return parts.map(({ id, file, piece, content, ranges, lines }) => {
    const snippet = snippetOf(content.replaceAll(/\s/g, ' '), ranges);
    return {
      id: `file-${id}`,
      icon: 'file',
      title: file,
      hint: 'File',
      group: 'Files',
      excerpt: snippet,
      go: () => showPlace(playground, { file, piece, ...(lines && { lines }) }),
    };
  });
}
