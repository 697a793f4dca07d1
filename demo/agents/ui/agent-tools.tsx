import type { JSX } from 'preact';
import type { Manifest } from '../../../src/index.ts';
import { wordsOfExclusion } from '../state/exclusions.ts';
import { Chips } from '../../kit/chips.tsx';

interface AgentToolsProps {
  readonly tools: Manifest['tools'] | undefined;
  readonly onOpen: (toolId: string) => void;
}

/** Which tools an agent's next run has, and why not the others. */
export function AgentTools({ tools, onOpen }: AgentToolsProps): JSX.Element {
  if (!tools) return <p class='registry-faint'>A disabled agent has no tools.</p>;
  const included = tools.filter(({ excluded }) => excluded === undefined).map(({ id }) => id);
  const others = Map.groupBy(tools.filter(({ excluded }) => excluded !== undefined), ({ excluded }) => excluded);
  return (
    <>
      <p class='registry-faint' data-testid='agent-tools-count'>{included.length} available in its next run</p>
      <Chips ids={included} onOpen={onOpen} />
      {[...others].map(([reason = '', entries]) => (
        <details key={reason} class='registry-reason' data-testid='excluded-tools' data-reason={reason}>
          <summary>{entries.length} not available: {wordsOfExclusion(reason)}</summary>
          <Chips
            ids={entries.map(({ id }) =>
              id
            )}
            onOpen={onOpen}
          />
        </details>
      ))}
    </>
  );
}
