/** The deterministic checks of what a server offers. They find what rules can find; what a text means, a person must judge. */

import { checkData } from '../base/json.ts';
import type { McpFinding } from '../base/schema.ts';
import { asRecord, isRecord } from '../base/is-record.ts';
import { checkFields, needsTask } from './checks/fields.ts';
import { error, type Remark } from './checks/finding.ts';
import { checkName } from './checks/names.ts';
import { checkInputSchema, checkSchema } from './checks/schemas.ts';
import { checkSet } from './checks/set.ts';
import { checkTexts } from './checks/texts.ts';
import type { Offer } from './drift.ts';
import { exposedName } from './pinned-tools.ts';

/** What the checks know besides. */
export interface InspectContext {
  /** Of the server. */
  readonly alias: string;
  readonly url: string;
  /** The names of tools from elsewhere: of other servers and of ours. */
  readonly others: ReadonlySet<string>;
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

const maxToolLength = 65_536;
const maxFindings = 500;

/** Checks everything that a server offers. */
export function inspect(
  { tools, instructions, serverInfo }: Offer & { readonly serverInfo: unknown },
  context: InspectContext,
): Inspection {
  const looked = tools.map((definition, i) => look(definition, { i, context }));
  const sets = looked.map(({ label, definition }) => ({ label, name: label, length: lengthOf(definition) }));
  const findings = [
    ...checkSet(sets, context.others),
    ...checkServer(serverInfo, instructions, context),
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

function look(
  definition: unknown,
  { i, context }: { readonly i: number; readonly context: InspectContext },
): InspectedTool & { readonly remarks: readonly Remark[] } {
  const { name } = asRecord(definition);
  const isNamed = typeof name === 'string' && /^[A-Za-z0-9_.-]{1,128}$/.test(name);
  const label = isNamed ? name : `#${i}`;
  const unreadable = refusal(definition);
  if (unreadable) return { label, definition, canOffer: false, remarks: [unreadable] };
  const record = asRecord(definition);
  const canOffer = isNamed && exposedName(context.alias, name) !== undefined && !needsTask(record);
  return { label, definition, canOffer, remarks: checkTool(record, context) };
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
  { alias, url, others }: InspectContext,
): readonly Remark[] {
  const { name, inputSchema, outputSchema } = definition;
  const output = outputSchema === undefined ? [] : checkOutputSchema(outputSchema);
  return [
    ...checkName(String(name), alias),
    ...checkFields(definition, new URL(url).origin),
    ...checkInputSchema(inputSchema),
    ...output,
    ...checkTexts(definition, others),
  ];
}

function checkOutputSchema(schema: unknown): readonly Remark[] {
  if (!isRecord(schema)) return [error('schema_root', 'must be an object', '/outputSchema')];
  return checkSchema(schema, '/outputSchema');
}

function checkServer(
  serverInfo: unknown,
  instructions: string | undefined,
  { others }: InspectContext,
): readonly Remark[] {
  const { name, version } = asRecord(serverInfo);
  return [
    ...checkTexts(name, others, '/serverInfo/name'),
    ...checkTexts(version, others, '/serverInfo/version'),
    ...checkTexts(instructions, others, '/instructions'),
  ];
}
