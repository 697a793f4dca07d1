/** Resources that a host lists one by one, and families of them that a template describes. */

import { listedPart } from './page.ts';
import type { McpReader } from './reader.ts';
import type { McpCompletion, McpResource, McpResourceContent, McpResources, McpResourceTemplate } from './resource.ts';
import { compileTemplate } from './template.ts';

type Contents = readonly McpResourceContent[] | undefined;

/** A resource, and the way to read it. */
export interface ListedResource extends McpResource {
  /** Returns the contents; `undefined` for a caller who may not know of the resource. */
  readonly read: (reader: McpReader) => Promise<Contents> | Contents;
  /** Calls `onChange` after changes, until the signal aborts. Absent: the resource cannot be watched. */
  readonly watch?: (options: { readonly signal: AbortSignal; readonly onChange: () => void }) => void;
}

/**
 * Returns resources that every caller may read. For those of a tenant, write `McpResources` of your own.
 *
 * @example
 * listedResources([{ uri: 'docs://terms', name: 'Terms', mimeType: 'text/markdown', read: () => [{ text: terms }] }])
 */
export function listedResources(resources: readonly ListedResource[]): McpResources {
  const byUri = new Map(resources.map((resource) => [resource.uri, resource]));
  const watchListed: McpResources['watch'] = (uri, { signal, onChange }) => {
    const watch = byUri.get(uri)?.watch;
    watch?.({ signal, onChange });
    return watch !== undefined;
  };
  return {
    list: (_, page) => listedPart(resources)(page),
    read: async (uri, reader) => {
      const found = byUri.get(uri);
      const contents = await found?.read(reader);
      return contents?.map((content) => ({
        ...found?.mimeType !== undefined && { mimeType: found.mimeType },
        ...content,
      }));
    },
    ...(resources.some(({ watch }) => watch !== undefined) && { watch: watchListed }),
  };
}

/** The values of a template's variables. */
export type TemplateValues = Readonly<Record<string, string>>;

/** A family of resources. */
export interface TemplateResources extends McpResourceTemplate {
  /** Returns the contents; `undefined` for values that name nothing of the caller's. */
  readonly read: (values: TemplateValues, reader: McpReader) => Promise<Contents> | Contents;
  /** Returns values for a variable. */
  readonly complete?: (wanted: McpCompletion, reader: McpReader) => Promise<readonly string[]> | readonly string[];
}

/**
 * Returns the resources that a template describes. A value is decoded, is never empty, `.` or `..`, and has no `/`, `\` and no control
 * characters.
 *
 * @throws PinnaceError `invalid_argument` (`template_not_supported`) for a template with operators.
 * @example
 * templateResources({ uriTemplate: 'orders://{id}', name: 'Order', read: ({ id }, { principal }) => readOrder(principal.tenant, id) })
 */
export function templateResources({ read, complete, ...template }: TemplateResources): McpResources {
  const match = compileTemplate(template.uriTemplate);
  const { mimeType } = template;
  return {
    templates: [template],
    async read(uri, reader) {
      const values = match(uri);
      const contents = values && await read(values, reader);
      return contents?.map((content) => ({ ...mimeType !== undefined && { mimeType }, ...content }));
    },
    ...(complete && { complete: (_, wanted, reader) => complete(wanted, reader) }),
  };
}
