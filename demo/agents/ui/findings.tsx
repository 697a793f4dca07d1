import type { JSX } from 'preact';
import type { McpFinding } from '../../../src/registry/index.ts';

/** `/inputSchema/properties/data/default` -> `in the default of its input “data”`. */
function placeOf(path: string): string {
  const names = path.split('/').slice(1).map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  const fields = names.flatMap((name, at) => names[at - 1] === 'properties' ? [name] : []);
  const last = names.at(-1) ?? '';
  const whole = names[0] === 'outputSchema' ? 'output' : names[0] === 'inputSchema' ? 'input' : names[0] ?? '';
  if (fields.length === 0) return `in its ${whole}`;
  const field = `its ${whole} “${fields.join(' › ')}”`;
  return last === fields.at(-1) ? `in ${field}` : `in the ${last} of ${field}`;
}

/** What the check has found, the errors first. */
export function Findings({ findings }: { findings: readonly McpFinding[] }): JSX.Element | null {
  if (findings.length === 0) return null;
  return (
    <ul class='boxed registry-rows registry-findings' aria-label='Findings'>
      {findings.map(({ severity, rule, tool, item = tool, path, message }, i) => (
        <li
          key={`${i} ${rule}`}
          title={path === undefined ? rule : `${rule} ${path}`}
          data-testid='mcp-finding'
          data-severity={severity}
        >
          <span class='chip registry-badge' data-badge={severity}>{severity}</span>
          <span class='registry-finding'>
            {item !== undefined && <strong>{item}</strong>} {message}
            {path !== undefined && ` (${placeOf(path)})`}
          </span>
        </li>
      ))}
    </ul>
  );
}
