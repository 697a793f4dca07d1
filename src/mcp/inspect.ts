/** The deterministic checks of what a server offers. They find what rules can find; what a text means, a person must judge. */

import { asRecord, isRecord } from '../base/is-record.ts';
import { checkData } from '../base/json.ts';
import type { McpFinding } from '../base/schema.ts';
import type { McpContentKind } from '../contracts/mcp/mcp-connector.ts';
import {
  checkFields,
  checkInputSchema,
  checkName,
  checkSchema,
  isToolName,
  needsTask,
  skeletonOf,
} from './check-definition.ts';
import { checkTexts } from './check-texts.ts';
import { readTemplate } from './content-results.ts';
import { error, readDefinition, type Remark, warning } from './pinned-tools.ts';
import { contentLabel, itemId } from './pins.ts';

export interface InspectContext {
  readonly alias: string;
  readonly url: string;
  readonly others: ReadonlySet<string>;
  /** What a person does not want of the server. */
  readonly leaveOut?: readonly string[];
}

export interface InspectedTool {
  /** Its name, or where that is none `#` and its place in the list: so findings call it. */
  readonly label: string;
  readonly definition: unknown;
  /** Whether it can be called at all; it is left out otherwise. */
  readonly canOffer: boolean;
}

interface Inspection {
  readonly tools: readonly InspectedTool[];
  readonly findings: readonly McpFinding[];
}

const maxToolLength = 262_144;
const longTool = 65_536;
const maxFindings = 500;

export function inspect(
  { tools: listed, instructions, serverInfo }: {
    readonly tools: readonly unknown[];
    readonly instructions: string | undefined;
    readonly serverInfo: unknown;
  },
  context: InspectContext,
): Inspection {
  const tools = listed.filter((definition) => definition !== null); // an empty place in a list
  const own = new Set(tools.map((tool) => String(asRecord(tool)['name'])));
  const looked = tools.map((definition, i) => look(definition, { i, context: { ...context, own } }));
  const wanted = looked.filter(({ label }) => context.leaveOut?.includes(label) !== true);
  const sets = wanted.map(({ label, definition }) => ({ label, name: label, length: lengthOf(definition) }));
  const findings = [
    ...checkSet(sets, context.others),
    ...checkServer(serverInfo, instructions, { ...context, own }),
    ...looked.flatMap(({ label, remarks }) => remarks.map((remark) => ({ ...remark, tool: label }))),
  ];
  return {
    tools: looked.map(({ label, definition, canOffer }) => ({ label, definition, canOffer })),
    findings: findings.toSorted((a, b) => rank(a) - rank(b)).slice(0, maxFindings),
  };
}

function rank({ severity }: Remark): number {
  return severity === 'error' ? 0 : 1;
}

interface ToolContext extends InspectContext {
  readonly own: ReadonlySet<string>;
}

function look(
  definition: unknown,
  { i, context }: { readonly i: number; readonly context: ToolContext },
): InspectedTool & { readonly remarks: readonly Remark[] } {
  const { name } = asRecord(definition);
  const isNamed = typeof name === 'string' && isToolName(name);
  const label = isNamed ? name : `#${i}`;
  const unreadable = refusal(definition);
  if (unreadable) return { label, definition, canOffer: false, remarks: [unreadable] };
  const { definition: read, remarks } = readDefinition(definition);
  const canOffer = isNamed && !needsTask(read);
  return { label, definition, canOffer, remarks: [...remarks, ...checkTool(read, context)] };
}

/** What is no sane JSON, or no end of it, is not looked at any further. */
function refusal(definition: unknown): Remark | undefined {
  try {
    checkData(definition);
  } catch {
    return error('not_json', 'is no JSON, is nested too deep, or has keys that reach beyond it');
  }
  if (typeof asRecord(definition)['name'] !== 'string') return error('name', 'has no name', '/name');
  if (lengthOf(definition) <= maxToolLength) return undefined;
  return error('too_large', `is longer than ${maxToolLength} characters`);
}

function lengthOf(definition: unknown): number {
  try {
    return JSON.stringify(definition)?.length ?? 0;
  } catch {
    return 0; // it is refused for its depth
  }
}

function checkTool(
  definition: Readonly<Record<string, unknown>>,
  { alias, url, others, own }: ToolContext,
): readonly Remark[] {
  const { name, inputSchema, outputSchema } = definition;
  const output = outputSchema === undefined ? [] : checkOutputSchema(outputSchema);
  return [
    ...checkName(String(name), alias),
    ...checkFields(definition, new URL(url).origin),
    ...checkInputSchema(inputSchema),
    ...output,
    ...checkTexts(definition, { others, own }),
    ...(lengthOf(definition) > longTool ? [warning('long', `is longer than ${longTool} characters`)] : []),
  ];
}

function checkOutputSchema(schema: unknown): readonly Remark[] {
  if (!isRecord(schema)) return [error('schema_root', 'must be an object', '/outputSchema')];
  return checkSchema(schema, '/outputSchema');
}

function checkServer(
  serverInfo: unknown,
  instructions: string | undefined,
  { others, own }: ToolContext,
): readonly Remark[] {
  const { name, version } = asRecord(serverInfo);
  return [
    ...checkTexts(name, { others }, '/serverInfo/name'),
    ...checkTexts(version, { others }, '/serverInfo/version'),
    ...checkTexts(instructions, { others, own }, '/instructions'),
  ];
}

export interface InspectedContent {
  readonly id: string;
  readonly label: string;
  readonly definition: unknown;
  readonly canOffer: boolean;
}

interface ContentInspection {
  readonly items: readonly InspectedContent[];
  readonly findings: readonly McpFinding[];
}

/** The most definitions of a kind that are pinned, and how long they may be together, in UTF-16 code units of JSON. */
const most = { prompts: 200, resources: 2000, templates: 200 } as const;
const maxTotal = 786_432;
const maxDefinition = 8192;
const maxContentFindings = 50;

/** Checks the definitions of a kind. UI resources belong to tools, and are no resources to attach. */
export function inspectContent(
  kind: McpContentKind,
  { items, isCut }: { readonly items: readonly unknown[]; readonly isCut: boolean },
  others: ReadonlySet<string>,
): ContentInspection {
  const offered = items.filter((item) => kind === 'prompts' || itemId(kind, item)?.startsWith('ui:') !== true);
  const ids = Map.groupBy(offered, (item) => itemId(kind, item) ?? '');
  const findings: McpFinding[] = [];
  let total = 0;
  let count = 0;
  let over = 0;
  const looked = offered.map((definition, i): InspectedContent => {
    const id = itemId(kind, definition) ?? `#${i}`;
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
  return { items: looked, findings: [...rest, ...findings.slice(0, maxContentFindings)] };
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
  const id = itemId(kind, definition);
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

const manyTools = 128;
const maxOfferLength = 4_194_304;

/** What is wrong with the tools as a whole; without a tool it is about the server. */
function checkSet(
  tools: readonly { readonly label: string; readonly name: string; readonly length: number }[],
  others: ReadonlySet<string>,
): readonly (Remark & { readonly tool?: string })[] {
  const total = tools.reduce((sum, { length }) => sum + length, 0);
  const skeletons = Map.groupBy(tools, ({ name }) => skeletonOf(name));
  const alike = [...skeletons.values()].filter(({ length }) => length > 1).flat();
  const same = Map.groupBy(tools, ({ name }) => name);
  return [
    ...(tools.length > manyTools
      ? [warning('many_tools', `The server offers more than ${manyTools} tools: agents should find them by a search`)]
      : []),
    ...(total > maxOfferLength
      ? [error('too_large', `The definitions are longer than ${maxOfferLength} characters`)]
      : []),
    ...alike.map(({ label, name }) => ({
      ...(same.get(name)?.length === 1
        ? warning('twin_name', 'looks like another tool of the server', '/name')
        : error('twin_name', 'is the name of two tools of the server', '/name')),
      tool: label,
    })),
    ...tools.filter(({ name }) => others.has(name)).map(({ label }) => ({
      ...warning('same_name_elsewhere', 'has the name of a tool from elsewhere', '/name'),
      tool: label,
    })),
  ];
}
