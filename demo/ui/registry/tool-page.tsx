import type { JSX } from 'preact';
import type { JsonSchema, ToolDefinition } from '../../../src/index.ts';
import type { RegistryPages } from '../../state/registry-pages.ts';
import { JsonView } from '../json-view.tsx';
import { Facts } from './facts.tsx';
import { StateBadge } from './record-list.tsx';

/** A tool as it is given as code: to read, and to switch off and on. */
export function ToolPage({ pages, tool }: { pages: RegistryPages; tool: ToolDefinition }): JSX.Element {
  const isDisabled = tool.state === 'disabled';
  return (
    <article class='registry-page' data-testid='tool-page'>
      <div class='registry-lead'>
        <p>{tool.description}</p>
        <StateBadge record={tool} />
      </div>
      <div class='button-row'>
        <button
          type='button'
          class='button'
          data-testid='registry-switch'
          onClick={() => void pages.setState(isDisabled ? 'active' : 'disabled')}
        >
          {isDisabled ? 'Enable' : 'Disable'}
        </button>
      </div>
      <section>
        <h2>Parameters</h2>
        <Parameters schema={tool.paramsSchema} />
        <details class='registry-reason'>
          <summary>As JSON Schema</summary>
          <JsonView label='Parameters' value={tool.paramsSchema} />
          {tool.outputSchema && <JsonView label='Output' value={tool.outputSchema} />}
        </details>
      </section>
      <section>
        <h2>Record</h2>
        <Facts facts={factsOf(tool)} />
      </section>
    </article>
  );
}

/** The properties of an object's schema, each in a line. */
function Parameters({ schema }: { schema: JsonSchema }): JSX.Element {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>); // a JSON Schema, checked by the registry
  const required = new Set((schema['required'] ?? []) as readonly string[]); // as above
  if (properties.length === 0) return <p class='registry-faint'>It takes none.</p>;
  return (
    <dl class='registry-params' data-testid='tool-params'>
      {properties.map(([name, property]) => (
        <div key={name}>
          <dt>
            <code>{name}</code> <span>{typeOf(property)}{required.has(name) ? '' : ', optional'}</span>
          </dt>
          <dd>{typeof property['description'] === 'string' && property['description']}</dd>
        </div>
      ))}
    </dl>
  );
}

function typeOf({ type, enum: options, const: only, anyOf }: JsonSchema): string {
  if (Array.isArray(options)) return `one of ${options.join(', ')}`;
  if (only !== undefined) return JSON.stringify(only);
  if (Array.isArray(anyOf)) return anyOf.map((each: JsonSchema) => typeOf(each)).join(' or ');
  return Array.isArray(type) ? type.join(' or ') : typeof type === 'string' ? type : 'anything';
}

function factsOf(tool: ToolDefinition): readonly (readonly [string, string])[] {
  const hints = Object.entries(tool.annotations ?? {}).filter(([, holds]) => holds).map(([hint]) => hint);
  return [
    ['Id', tool.id],
    ['Name', tool.name],
    ['Type', tool.type],
    ['Version', tool.version],
    ['Visibility', tool.visibility],
    ['State', tool.state],
    ['Approval', tool.approval ?? 'as its hints say'],
    ['Hints', hints.join(', ')],
    ['Category', tool.category ?? ''],
    ['Keywords', tool.keywords.join(', ')],
    ['Agents that name it', tool.boundAgents?.join(', ') ?? ''],
    ['Secrets', tool.secrets.map(({ id }) => id).join(', ')],
  ];
}
