/** What people see of pinned prompts, resources and templates, and which of them an agent may use. */

import { asRecord } from '../../base/is-record.ts';
import type { McpSelection, McpServer, PinnedContent } from '../../base/schema.ts';
import type { McpPromptEntry, McpResourceEntry, McpTemplateEntry } from '../../contracts/mcp/content.ts';
import type { McpContentKind } from '../../contracts/mcp/mcp-connector.ts';
import { contentId, contentLabel, pinnedContent } from './kinds.ts';
import { readTemplate } from './uri-template.ts';

/** Whether everything that a server has pinned may be used now. */
export function isUsable({ state, status, pinned }: McpServer): boolean {
  return state !== 'disabled' && status === 'valid' && pinned !== undefined;
}

/** Whether the agent's selection covers it, as for tools. */
export function isSelected({ allow, mask = [] }: McpSelection, label: string): boolean {
  return (allow === undefined || matchesAny(allow, label)) && !matchesAny(mask, label);
}

/** Whether a mask of the agent covers it. */
export function isMasked({ mask = [] }: McpSelection, label: string): boolean {
  return matchesAny(mask, label);
}

function matchesAny(patterns: readonly string[], label: string): boolean {
  return patterns.some((one) => one.endsWith('*') ? label.startsWith(one.slice(0, -1)) : label === one);
}

/** The pinned definitions of a kind that the agent may use, with what identifies each. */
export function selectedContent(
  { pinned }: McpServer,
  kind: McpContentKind,
  selection: McpSelection,
): readonly { readonly id: string; readonly item: PinnedContent }[] {
  return pinnedContent(pinned, kind).flatMap((item) => {
    const id = contentId(kind, item.definition);
    return id !== undefined && isSelected(selection, contentLabel(kind, id)) ? [{ id, item }] : [];
  });
}

/** Describes a prompt. */
export function toPromptEntry(server: McpServer, { definition }: PinnedContent): McpPromptEntry {
  const described = describe(server, definition);
  return {
    ...described,
    command: `${server.alias}.${described.name}`,
    arguments: argumentsOf(definition),
  };
}

/** The arguments of a prompt. */
export function argumentsOf(definition: PinnedContent['definition']): McpPromptEntry['arguments'] {
  const given = Array.isArray(definition['arguments']) ? definition['arguments'] : [];
  return given.map(asRecord).flatMap(({ name, description, required }) =>
    typeof name === 'string' ? [{ name, ...textOf({ description }), required: required === true }] : []
  );
}

/** Describes a resource. */
export function toResourceEntry(server: McpServer, { definition }: PinnedContent): McpResourceEntry {
  const { uri, size } = definition;
  return {
    ...describe(server, definition),
    uri: String(uri),
    ...textOf({ mimeType: definition['mimeType'] }),
    ...(typeof size === 'number' && size >= 0 && { size }),
  };
}

/** Describes a template. */
export function toTemplateEntry(server: McpServer, { definition }: PinnedContent): McpTemplateEntry {
  const uriTemplate = String(definition['uriTemplate']);
  return {
    ...describe(server, definition),
    uriTemplate,
    variables: readTemplate(uriTemplate)?.variables ?? [],
    ...textOf({ mimeType: definition['mimeType'] }),
  };
}

function describe({ id: server, alias }: McpServer, { name, title, description }: PinnedContent['definition']) {
  return { server, alias, name: typeof name === 'string' ? name : '', ...textOf({ title, description }) };
}

function textOf<K extends string>(fields: Readonly<Record<K, unknown>>): { readonly [Key in K]?: string } {
  const texts = Object.entries(fields).filter(([, value]) => typeof value === 'string' && value !== '');
  return Object.fromEntries(texts) as { [Key in K]?: string }; // of these keys
}
