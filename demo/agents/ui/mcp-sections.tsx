import type { JSX } from 'preact';
import type { McpServer, McpValidation } from '../../../src/registry/index.ts';
import type { McpCheck } from '../state/mcp-check.ts';
import type { SignInControl } from '../../control/registry-control.ts';
import { formatCount } from '../../kit/format.ts';
import { effectWords } from './effect-words.ts';
import { Findings } from './findings.tsx';
import { McpReport } from './mcp-report.tsx';
import { Description, Fingerprint } from './offer-text.tsx';
import { lazy } from '../../kit/lazy.tsx';
import { Problem } from '../../kit/problem.tsx';
import { formatTime } from '../../kit/format.ts';
import { Button } from '../../kit/button.tsx';

/** Fetched with the first server that people sign in to. */
const SignInSection = lazy(async () => (await import('./sign-in-section.tsx')).SignInSection);

/** What was approved of an MCP server, and what it offers now. */
export function McpSections({ server, check, control, onUse }: {
  readonly server: McpServer;
  readonly check: McpCheck;
  readonly control: SignInControl;
  /** Selects the server in an agent. */
  readonly onUse: () => void;
}): JSX.Element {
  const report = check.report.value;
  return (
    <>
      {server.auth && <SignInSection server={server} check={check} control={control} />}
      <section>
        <h2>Tools on this server</h2>
        <p class='registry-faint'>
          {report ? 'Fetched a moment ago.' : 'Review the tools before you approve them.'}
        </p>
        <div class='button-row'>
          <button
            type='button'
            class={report ? 'button' : 'button is-primary'}
            data-testid='mcp-validate'
            disabled={check.isBusy.value}
            onClick={() => void check.look()}
          >
            {check.isBusy.value ? 'Loading…' : report ? 'Refresh' : 'Validate'}
          </button>
        </div>
        <Problem text={check.problem.value} testId='mcp-problem' />
        {report && !report.approved && <McpReport report={report} check={check} />}
        {report?.approved && <p role='status' data-testid='mcp-approved'>{approvedWords(report)}</p>}
        {report?.approved && report.signedIn !== false && (
          <div class='button-row'>
            <Button kind='primary' testId='mcp-use' onClick={onUse}>
              Use in an agent
            </Button>
          </div>
        )}
      </section>
      <section>
        <h2>Approved tools</h2>
        <Pinned server={server} />
      </section>
    </>
  );
}

/** The tools of a server with sign-in are seen by those who have signed in. */
function approvedWords({ signedIn }: McpValidation): string {
  return signedIn === false
    ? 'Approved. Sign in, then validate again to see the tools.'
    : 'Approved. Agents that select this server can use its tools.';
}

function Pinned({ server: { pinned, status, validatedAt, findings } }: { server: McpServer }): JSX.Element {
  if (!pinned) return <p class='registry-faint' data-testid='mcp-pinned'>No tools are approved, so agents see none.</p>;
  const { serverInfo, protocolVersion, tools } = pinned;
  if (tools.length === 0 && serverInfo.name === '') {
    return <p class='registry-faint' data-testid='mcp-pinned'>The sign-in is approved, but no tools yet.</p>;
  }
  return (
    <div data-testid='mcp-pinned' data-status={status}>
      <p class='registry-faint'>
        {serverInfo.name} {serverInfo.version}, protocol {protocolVersion}, {formatCount(tools.length, 'tool')}
        {validatedAt !== undefined && `, ${formatTime(validatedAt)}`}
        {status !== 'valid' && ': to be approved again, agents see none of it'}
      </p>
      <ul class='boxed registry-rows'>
        {tools.map(({ definition, fingerprint, status: state, effect = 'destructive' }) => (
          <li key={definition.name} data-testid='mcp-pin' data-status={state}>
            <span class='registry-row-name'>{definition.name}</span>
            <span class='chip registry-badge' data-badge={state}>
              {state === 'valid' ? effectWords[effect] : 'drifted'}
            </span>
            <Description of={definition} />
            <Fingerprint value={fingerprint} />
          </li>
        ))}
      </ul>
      <Findings findings={findings} />
    </div>
  );
}
