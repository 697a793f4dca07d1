import type { JSX } from 'preact';
import type { JsonSchema, ToolDefinition } from '../../../src/registry/index.ts';
import { JsonView } from '../../kit/json-view.tsx';

/** A tool's input, and as JSON Schema its output. */
export function ToolParams({ tool }: { tool: ToolDefinition }): JSX.Element {
  return (
    <section>
      <h2>Parameters</h2>
      <Parameters schema={tool.paramsSchema} />
      <details class='registry-reason'>
        <summary>Show JSON Schema</summary>
        <JsonView label='Parameters' value={tool.paramsSchema} />
        {tool.outputSchema && <JsonView label='Output' value={tool.outputSchema} />}
      </details>
    </section>
  );
}

/** The properties of an object's schema, each in a line. */
function Parameters({ schema }: { schema: JsonSchema }): JSX.Element {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>); // a JSON Schema, checked by the registry
  const required = new Set((schema['required'] ?? []) as readonly string[]); // as above
  if (properties.length === 0) return <p class='registry-faint'>No parameters.</p>;
  return (
    <dl class='boxed registry-params' data-testid='tool-params'>
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
