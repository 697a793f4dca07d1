/** The deterministic checks of what a server offers. They find what rules can find; what a text means, a person must judge. */

import { checkData } from '../base/json.ts';
import type { McpFinding } from '../base/schema.ts';
import { asRecord, isRecord } from '../base/is-record.ts';
import { checkFields, needsTask } from './checks/fields.ts';
import { error, type Remark, warning } from './checks/finding.ts';
import { checkName, isToolName } from './checks/names.ts';
import { checkInputSchema, checkSchema } from './checks/schemas.ts';
import { checkSet } from './checks/set.ts';
import { checkTexts } from './checks/texts.ts';
import type { Offer } from './drift.ts';
import { readDefinition } from './read-definition.ts';

/** What the checks know besides. */
export interface InspectContext {
  /** Of the server. */
  readonly alias: string;
  readonly url: string;
  /** The names of tools from elsewhere: of other servers and of ours. */
  readonly others: ReadonlySet<string>;
  /** What a person does not want of the server. */
  readonly leaveOut?: readonly string[];
}

/** A tool that was looked at. */
export interface InspectedTool {
  /** Its name, or where that is none `#` and its place in the list: so findings call it. */
  readonly label: string;
  readonly definition: unknown;
  /** Whether it can be called at all; it is left out otherwise. */
  readonly canOffer: boolean;
}

/** What was found. */
export interface Inspection {
  readonly tools: readonly InspectedTool[];
  readonly findings: readonly McpFinding[];
}

const maxToolLength = 262_144;
const longTool = 65_536;
const maxFindings = 500;

/** Checks everything that a server offers. */
export function inspect(
  { tools, instructions, serverInfo }: Offer & { readonly serverInfo: unknown },
  context: InspectContext,
): Inspection {
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
  /** The names of the server's own tools. */
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
