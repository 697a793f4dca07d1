import type { JSX } from 'preact';
import { templates } from '../state/templates.ts';
import type { Builder } from '../state/builder.ts';

/** Starting points for a new agent; gone once something was written. */
export function TemplateCards({ builder }: { builder: Builder }): JSX.Element {
  const chosen = builder.template.value;
  return (
    <section class='builder-templates' aria-label='Templates'>
      <p class='registry-faint'>Start from a template, or write your own below.</p>
      <ul>
        {templates.map((template) => (
          <li key={template.id}>
            <button
              type='button'
              class='builder-template'
              data-testid='template'
              data-template={template.id}
              aria-pressed={chosen?.id === template.id}
              onClick={() => builder.use(template)}
            >
              <strong>{template.title}</strong>
              <span>{template.about}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
