import type { JSX } from 'preact';
import type { RunTools } from '../../control/runs-control.ts';
import { wordsOfExclusion } from '../../agents/state/exclusions.ts';
import { formatCount } from '../../kit/format.ts';

/** The run's manifest: the tools that the agent had, and for each other the one reason why not. */
export function ToolsView({ tools }: { tools: RunTools | undefined }): JSX.Element {
  if (!tools) {
    return (
      <p class='inspector-empty' data-testid='tools-unknown'>
        The tools of this run are unknown: its agent is no longer available.
      </p>
    );
  }
  const included = tools.tools.filter(({ excluded }) => excluded === undefined);
  const leftOut = tools.tools.filter(({ excluded }) => excluded !== undefined);
  const byReason = [...Map.groupBy(leftOut, ({ excluded = '' }) => excluded)].toSorted(([, a], [, b]) =>
    a.length - b.length
  );
  return (
    <div class='run-scroll' data-testid='tools-view'>
      <section>
        <h2>{formatCount(included.length, 'tool')} available</h2>
        {included.length === 0
          ? <p class='inspector-faint'>The agent had no tools.</p>
          : <Names ids={included.map(({ id }) => id)} />}
      </section>
      {byReason.length > 0 && (
        <section>
          <h2>{formatCount(leftOut.length, 'tool')} not available, by reason</h2>
          {byReason.map(([reason, entries]) => (
            <details
              key={reason}
              open={entries.length <= 30}
              data-testid='left-out'
              data-reason={reason}
            >
              <summary>
                {wordsOfExclusion(reason)} <span class='inspector-faint'>{entries.length}</span>
              </summary>
              <Names ids={entries.map(({ id }) => id)} />
            </details>
          ))}
        </section>
      )}
      <section>
        <h2>Tool set digest</h2>
        <p class='inspector-faint'>
          SHA-256 of the definitions of these tools. Runs with the same digest had exactly the same tools.
        </p>
        <p class='run-digest'>{tools.digest}</p>
      </section>
    </div>
  );
}

function Names({ ids }: { ids: readonly string[] }): JSX.Element {
  return (
    <ul class='chips run-tools'>
      {ids.map((id) => <li key={id} class='chip'>{id}</li>)}
    </ul>
  );
}
