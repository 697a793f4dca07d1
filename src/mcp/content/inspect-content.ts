/** The checks of prompts, resources and templates. What fails is left out, and does not keep a person from approving the others. */

import { asRecord, isRecord } from '../../base/is-record.ts';
import { checkData } from '../../base/json.ts';
import type { McpFinding } from '../../base/schema.ts';
import type { McpContentKind } from '../../contracts/mcp/mcp-connector.ts';
import { error, type Remark, warning } from '../checks/finding.ts';
import { checkTexts } from '../checks/texts.ts';
import { contentId, contentLabel } from './kinds.ts';
import { readTemplate } from './uri-template.ts';

/** A definition that was looked at. */
export interface InspectedContent {
  readonly id: string;
  readonly label: string;
  readonly definition: unknown;
  readonly canOffer: boolean;
}

/** What was found of one kind. */
export interface ContentInspection {
  readonly items: readonly InspectedContent[];
  readonly findings: readonly McpFinding[];
}

/** The most definitions of a kind that are pinned, and how long they may be together, in UTF-16 code units of JSON. */
const most = { prompts: 200, resources: 2000, templates: 200 } as const;
const maxTotal = 786_432;
const maxDefinition = 8192;
const maxFindings = 50;

/** Checks the definitions of a kind. UI resources belong to tools, and are no resources to attach. */
export function inspectContent(
  kind: McpContentKind,
  { items, isCut }: { readonly items: readonly unknown[]; readonly isCut: boolean },
  others: ReadonlySet<string>,
): ContentInspection {
  const offered = items.filter((item) => kind === 'prompts' || contentId(kind, item)?.startsWith('ui:') !== true);
  const ids = Map.groupBy(offered, (item) => contentId(kind, item) ?? '');
  const findings: McpFinding[] = [];
  let total = 0;
  let count = 0;
  let over = 0;
  const looked = offered.map((definition, i): InspectedContent => {
    const id = contentId(kind, definition) ?? `#${i}`;
    const label = contentLabel(kind, id.slice(0, 300));
    const isTwin = (ids.get(id)?.length ?? 0) > 1;
    const remark = isTwin ? error('twin_name', 'is listed twice') : problemOf(kind, definition, others);
    if (remark?.severity === 'warning') findings.push({ ...remark, item: label });
    else if (remark) {
      findings.push({ ...remark, severity: 'warning', message: `${remark.message}: it is left out`, item: label });
      return { id, label, definition, canOffer: false };
    }
    const length = JSON.stringify(definition).length;
    const fits = count < most[kind] && total + length <= maxTotal;
    if (!fits) over++;
    else {
      count++;
      total += length;
    }
    return { id, label, definition, canOffer: fits };
  });
  const rest = isCut || over > 0 ? [tooMany(kind, { count, isCut, total: offered.length })] : [];
  return { items: looked, findings: [...rest, ...findings.slice(0, maxFindings)] };
}

function tooMany(
  kind: McpContentKind,
  { count, isCut, total }: { readonly count: number; readonly isCut: boolean; readonly total: number },
): McpFinding {
  const listed = isCut ? `more than ${total}` : String(total);
  return warning('too_many', `The server lists ${listed} ${kind}: the first ${count} that fit can be approved`);
}

function problemOf(kind: McpContentKind, definition: unknown, others: ReadonlySet<string>): Remark | undefined {
  try {
    checkData(definition);
  } catch {
    return error('not_json', 'is no JSON, or is nested too deep');
  }
  const id = contentId(kind, definition);
  const record = asRecord(definition);
  if (id === undefined) return error('name', 'has no name');
  if (JSON.stringify(definition).length > maxDefinition) {
    return error('too_large', `is longer than ${maxDefinition} characters`);
  }
  const remark = checkId(kind, id) ?? (kind === 'prompts' ? checkArguments(record['arguments']) : undefined);
  if (remark) return remark;
  const { uri: _, uriTemplate: __, icons: ___, ...texts } = record;
  const found = checkTexts(texts, { others });
  return found.find(({ severity }) => severity === 'error') ?? found.find(({ rule }) => rule !== 'address');
}

function checkId(kind: McpContentKind, id: string): Remark | undefined {
  if (kind === 'prompts') {
    return /^[^\s\p{C}]{1,128}$/u.test(id)
      ? undefined
      : error('name', 'has no name of 1 to 128 visible characters', '/name');
  }
  if (kind === 'templates') {
    return readTemplate(id)
      ? undefined
      : error('template', 'is a template of a form that is not supported', '/uriTemplate');
  }
  const url = id.length <= 2048 && !/[\s\p{C}\\]/u.test(id) ? URL.parse(id) : null;
  const isUsable = url !== null && !['javascript:', 'data:', 'blob:'].includes(url.protocol);
  return isUsable ? undefined : error('uri', 'has no address that can be used', '/uri');
}

function checkArguments(given: unknown): Remark | undefined {
  if (given === undefined) return undefined;
  const names = Array.isArray(given) ? given.map((one) => asRecord(one)['name']) : undefined;
  const isFine = names !== undefined && names.length <= 20 && new Set(names).size === names.length &&
    (given as unknown[]).every(isRecord) &&
    names.every((name) => typeof name === 'string' && /^[\w.-]{1,64}$/.test(name) && name !== '__proto__');
  return isFine ? undefined : error('arguments', 'has arguments without usable names', '/arguments');
}
