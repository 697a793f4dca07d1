/** An agent that is given to others: as a file, and as a link. */

import { type ReadonlySignal, signal } from '@preact/signals';
import { builtinToolIds } from '../../../src/tools/availability.ts';
import type { RegistryControl } from '../../control/registry-control.ts';
import { documentOf, toLink } from './agent-file.ts';
import { type AgentDocument } from '../../control/trial-control.ts';

/** What can be given away. */
export interface Shared {
  /** The file's text. */
  readonly text: string;
  /** `undefined`: the agent is too large for one. */
  readonly link: string | undefined;
  /** Tools that are code of this page, and not of every runtime: who imports it must have them too. */
  readonly given: readonly string[];
  /** The names of the secrets that it needs. */
  readonly secrets: readonly string[];
}

export interface Sharing {
  readonly shared: ReadonlySignal<Shared | undefined>;
  readonly problem: ReadonlySignal<string | undefined>;
  prepare(agentId: string): Promise<void>;
}

/** Creates it; `page` is the address that links lead to. */
export function createSharing(control: Pick<RegistryControl, 'exportAll' | 'get'>, page: () => string): Sharing {
  const shared = signal<Shared | undefined>(undefined);
  const problem = signal<string | undefined>(undefined);
  return {
    shared,
    problem,
    async prepare(agentId) {
      const answer = await control.exportAll().catch(() => undefined);
      const document = answer?.ok ? documentOf(answer.value, agentId) : undefined;
      problem.value = document ? undefined : 'The agent cannot be exported: the registry did not return it.';
      shared.value = document && {
        text: `${JSON.stringify(document, null, 2)}\n`,
        link: await toLink(document, page()),
        given: await givenTools(document, control),
        secrets: secretsOf(document),
      };
    },
  };
}

async function givenTools(document: AgentDocument, control: Pick<RegistryControl, 'get'>): Promise<readonly string[]> {
  const stored = new Set(document.tools.map(({ id }) => id));
  const named = document.agents.flatMap(({ entryTools }) => entryTools)
    .filter((entry) => !entry.endsWith('*') && !stored.has(entry) && !builtinToolIds.has(entry));
  const found = await Promise.all(named.map((id) => control.get('tool', id).catch(() => undefined)));
  return named.filter((_, i) => {
    const answer = found[i];
    return answer?.ok && answer.value.isGiven;
  });
}

function secretsOf({ agents, tools, mcpServers, providers, dataSources }: AgentDocument): readonly string[] {
  const listed = [...agents, ...tools].flatMap(({ secrets }) => secrets ?? []);
  const single = [...mcpServers, ...providers, ...dataSources].flatMap(({ secret }) => secret ?? []);
  return [...new Set([...listed, ...single].map(({ id }) => id))].toSorted();
}
