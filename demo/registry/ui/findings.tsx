import type { JSX } from 'preact';
import type { McpFinding } from '../../../src/registry/index.ts';

/** What the check has found, the errors first. */
export function Findings({ findings }: { findings: readonly McpFinding[] }): JSX.Element | null {
  if (findings.length === 0) return null;
  return (
    <ul class='boxed registry-rows registry-findings' aria-label='Findings'>
      {findings.map(({ severity, rule, tool, item = tool, path, message }, i) => (
        <li key={`${i} ${rule}`} data-testid='mcp-finding' data-severity={severity}>
          <span class='chip registry-badge' data-badge={severity}>{severity}</span>
          <span class='registry-finding'>
            {item !== undefined && <strong>{item}</strong>} {message}{' '}
            <code>{rule}{path !== undefined && ` ${path}`}</code>
          </span>
        </li>
      ))}
    </ul>
  );
}
