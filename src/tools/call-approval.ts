/**
 * What the person who must approve a call is shown, and what the decision is bound to.
 *
 * - The model chooses every name and value of an input, so nothing of it is shown unescaped, nothing long hides what is short, and two
 *   different inputs never look the same.
 * - What is shown are facts of the call, never words of the model.
 * - A decision is bound to its owner, chat, agent with its revision, tool definition and input: when one of them changes, it is void.
 */

import { PinnaceError } from '../base/errors.ts';
import { sha256 } from '../base/hash.ts';
import { isRecord } from '../base/is-record.ts';
import { canonicalJson, pointerBelow } from '../base/json.ts';
import type { Principal } from '../base/principal.ts';
import type { Agent } from '../base/schema.ts';
import { visible } from '../base/text.ts';
import type {
  EarlierClaim,
  SpendClaim,
  SpentDecision,
  Unspendable,
  UnspendableReason,
} from '../permission/interruption.ts';
import type { WaitingFacts } from '../permission/waiting.ts';
import type { CallContextFacts } from '../contracts/authenticator.ts';
import { type Label, overlaps } from '../permission/label.ts';
import { declaredFields, elementSchemas } from './input-fields.ts';
import { previewLines, type ShownPreview } from './call-preview.ts';
import type { Tool } from './tool.ts';

/** The description of a call for the person who approves it: as fields for a page, and as text. */
export interface CallDescription extends ShownPreview {
  /** What is to be done: a constant of the tool's definition, or of the record of its MCP server. */
  readonly title: string;
  readonly tool: string;
  /** Where the call goes, as the method and address of a request. */
  readonly target?: string;
  readonly fields: readonly CallFact[];
  /** Who has written the call: the model itself, or its program. Present where fields say where they are from. */
  readonly by?: CallOrigins['by'];
  /** Why a permission rule wants a person. */
  readonly rule?: string;
  /** Who decides in place of the owner. */
  readonly approvers?: readonly string[];
  /** Another person than the one who has asked must decide. */
  readonly fourEyes?: true;
}

/** Describes a call for the person who decides on it. */
export async function describeCall(
  { definition: { id, title, paramsSchema }, heading = title ?? `Call ${id}`, target }: Tool,
  input: unknown,
  { rule, preview, origins }: {
    readonly rule?: string | undefined;
    readonly preview?: ShownPreview | undefined;
    readonly origins?: CallOrigins | undefined;
  } = {},
): Promise<CallDescription> {
  const fields = await callFacts(input, paramsSchema);
  return {
    title: shownHead(heading, maxTitle, visible),
    tool: visible(title === undefined ? id : `${title} (${id})`),
    ...(target && { target: visible(target()) }),
    ...preview,
    fields: origins ? withOrigins(fields, origins) : fields,
    ...(origins && { by: origins.by }),
    ...(rule !== undefined && { rule: visible(rule) }),
  };
}

/** The description as text. Every line starts with a fixed word or a quoted name, so no input can imitate another line. */
export function describedText({ tool, target, fields, rule, by, ...preview }: CallDescription): string {
  return [
    `Call ${tool}`,
    ...(target === undefined ? [] : [target]),
    ...previewLines(preview),
    ...factLines(fields, by),
    ...(rule === undefined ? [] : [`Rule: ${rule}`]),
  ].join('\n');
}

/** What people are shown of a question about a call. */
export function factsOf(
  { definition: { id, annotations, undoable } }: Tool,
  description: CallDescription | undefined,
): WaitingFacts {
  const cannotUndo = annotations?.readOnlyHint !== true && undoable !== true;
  return { title: `Call ${id}`, ...description, toolId: id, ...(cannotUndo && { cannotUndo }) };
}

/** One value of the input. */
interface CallFact {
  /** Where it is: names as JSON text joined by ".", positions in brackets. */
  readonly key: string;
  /** Its JSON text, or the beginning of that, on one line. */
  readonly value: string;
  /** Whether the tool's schema declares the field. */
  readonly declared: boolean;
  /** The title that the schema has for it. */
  readonly label?: string;
  /** Present where there is more than `value` shows. */
  readonly shortened?: { readonly length: number; readonly sha256: string };
  /** The names and positions that lead to the value in the input. */
  readonly path: readonly (string | number)[];
  /** The sources of others that it may be from; none: the user, or a program that has read nothing. Absent in an open agent. */
  readonly from?: readonly string[];
  /** It says where or to whom, and is from others. */
  readonly destination?: true;
  /** A program has stated it before it has read anything. */
  readonly planned?: true;
}

/** Where the values of a call are from. */
export interface CallOrigins {
  readonly facts: CallContextFacts;
  readonly by: 'model' | 'program';
}

/** Says of each field where it is from; destinations of others come first. */
function withOrigins(fields: readonly CallFact[], { facts }: CallOrigins): readonly CallFact[] {
  const { args, destinations, planned } = facts;
  const marked = fields.map((field): CallFact => {
    const at = field.path.reduce<string>(pointerBelow, '');
    const within = Object.entries(args).filter(([pointer]) => overlaps(pointer, at));
    const from = [...new Set(within.flatMap(([, label]) => label.from))].toSorted();
    const isDestination = from.length > 0 && destinations.some((pointer) => overlaps(pointer, at));
    return {
      ...field,
      from,
      ...(isDestination && { destination: true }),
      ...(planned && from.length === 0 && { planned: true }),
    };
  });
  return [...marked.filter(({ destination }) => destination), ...marked.filter(({ destination }) => !destination)];
}

/** What people read of where a value is from. Sources are ids of the host, never a tool's words. */
export function originText({ from = [], planned, destination }: CallFact, by: CallOrigins['by']): string {
  const names = from.map((source) => source === '*' ? 'a source that is not known' : source).join(', ');
  const mark = destination ? 'destination of others, ' : '';
  if (from.length > 0) return by === 'model' ? `${mark}the model, after reading ${names}` : `${mark}${names}`;
  return planned || by === 'program' ? 'the plan of the agent' : 'you';
}

/** What a decision is bound to besides tool and input: the sources of the call. Nothing in an open agent, as before. */
export function sourcesOf({ trust = 'open' }: Pick<Agent, 'trust'>, { from }: Label): readonly unknown[] {
  return trust === 'open' ? [] : [{ from }];
}

/** How many lines the declared fields share, each of them having at least one, and how many the others share. */
const declaredLines = 40;
const otherLines = 20;
const maxDepth = 5;
/** The longest value and name, as shown. */
const maxValue = 240;
const maxName = 80;
const maxTitle = 120;
const maxLabel = 60;

/** Returns the values of an input: declared fields in the order of the schema, then all others, by name. */
export async function callFacts(input: unknown, schema: unknown): Promise<readonly CallFact[]> {
  const drafts: Draft[] = [];
  const top = { path: [], schemas: [schema], root: schema, declared: true };
  if (!isRecord(input)) drafts.push({ ...top, value: input });
  else {
    const { declared, others } = childrenOf(input, top);
    spread(declared, { lines: Math.max(declaredLines, declared.length), of: top, drafts });
    spread(others, { lines: otherLines, of: { ...top, declared: false }, drafts });
  }
  return await Promise.all(drafts.map(toFact));
}

/** The facts as text, one line each. */
function factLines(facts: readonly CallFact[], by: CallDescription['by']): readonly string[] {
  return facts.flatMap((fact) => {
    const { key, value, declared, shortened } = fact;
    const cut = shortened ? `… (${shortened.length} characters, SHA-256 ${shortened.sha256})` : '';
    const line = `${declared ? '' : 'Not declared: '}${key}: ${value}${cut}`;
    return by ? [line, `From: ${originText(fact, by)}`] : [line];
  });
}

interface Node {
  readonly path: readonly (string | number)[];
  readonly value: unknown;
  readonly schemas: readonly unknown[];
  readonly root: unknown;
  readonly declared: boolean;
}

/** A node to show on one line; with `rest`, so many more children that its lines did not suffice for. */
type Draft = Omit<Node, 'schemas' | 'root'> & { readonly schemas?: readonly unknown[]; readonly rest?: number };

interface Spread {
  readonly lines: number;
  readonly of: Omit<Node, 'value'>;
  readonly drafts: Draft[];
}

/** Gives every child its share of the lines, so that a long one cannot push another out of sight. */
function spread(children: readonly Node[], { lines, of, drafts }: Spread): void {
  const shown = children.length <= lines ? children : children.slice(0, Math.max(0, lines - 1));
  const share = Math.floor(lines / Math.max(1, shown.length));
  for (const child of shown) show(child, share, drafts);
  const rest = children.slice(shown.length);
  if (rest.length === 0) return;
  const value = rest.map(({ path, value: inner }) => [path.at(-1), inner]);
  drafts.push({ path: of.path, declared: of.declared, value, rest: rest.length });
}

function show(node: Node, lines: number, drafts: Draft[]): void {
  const { declared, others } = childrenOf(node.value, node);
  const children = [...declared, ...others];
  const fitsOneLine = children.length === 0 || lines < 2 || node.path.length >= maxDepth;
  if (fitsOneLine) drafts.push(node);
  else spread(children, { lines, of: node, drafts });
}

type Children = { readonly declared: readonly Node[]; readonly others: readonly Node[] };

function childrenOf(value: unknown, { path, schemas, root, declared }: Omit<Node, 'value'>): Children {
  if (Array.isArray(value)) {
    const items = value.map((item: unknown, at): Node => {
      return { path: [...path, at], value: item, schemas: elementSchemas(schemas, root, at), root, declared };
    });
    return { declared: items, others: [] };
  }
  if (!isRecord(value)) return { declared: [], others: [] };
  const { fields, others = [] } = declaredFields(schemas, root);
  const child = (name: string, its: readonly unknown[], isDeclared: boolean): Node => {
    return { path: [...path, name], value: value[name], schemas: its, root, declared: declared && isDeclared };
  };
  const isFreeForm = path.length > 0 && fields.size === 0; // an object of anything is declared as that
  const undeclared = Object.keys(value).filter((name) => !fields.has(name)).toSorted((a, b) => (a < b ? -1 : 1));
  return {
    declared: [...fields].filter(([name]) => Object.hasOwn(value, name)).map(([name, its]) => child(name, its, true)),
    others: undeclared.map((name) => child(name, others, isFreeForm)),
  };
}

async function toFact({ path, value, declared, rest, schemas = [] }: Draft): Promise<CallFact> {
  const label = rest === undefined && path.length > 0 ? labelOf(schemas) : {};
  const text = canonicalJson(value);
  const key = await keyOf(path);
  if (rest !== undefined) {
    const shortened = { length: text.length, sha256: await hashOf(text) };
    return { key, value: `and ${rest} more`, declared, shortened, path };
  }
  const whole = visible(text);
  if (whole.length <= maxValue) return { key, value: whole, declared, ...label, path };
  const isText = typeof value === 'string';
  const shown = isText ? shownHead(value, maxValue, quoted) : shownHead(text, maxValue, visible);
  const length = isText ? value.length : text.length;
  return { key, value: shown, declared, ...label, shortened: { length, sha256: await hashOf(text) }, path };
}

/** Schemas are pinned with their definitions: the model cannot choose their titles. */
function labelOf(schemas: readonly unknown[]): { readonly label?: string } {
  const title = schemas.flatMap((schema) => isRecord(schema) ? [schema['title']] : []).find((each) =>
    typeof each === 'string'
  );
  return typeof title === 'string' && title.trim() !== '' ? { label: shownHead(title, maxLabel, visible) } : {};
}

function quoted(text: string): string {
  return visible(JSON.stringify(text));
}

/** The longest beginning that is no longer than `most` when shown; it ends between two characters. */
function shownHead(text: string, most: number, render: (text: string) => string): string {
  let head = '';
  for (const character of text) {
    if (render(head + character).length > most) break;
    head += character;
  }
  return render(head);
}

async function keyOf(path: readonly (string | number)[]): Promise<string> {
  if (path.length === 0) return 'input';
  const names = await Promise.all(path.map(nameOf));
  return names.reduce((key, name) => name.startsWith('[') ? `${key}${name}` : `${key}.${name}`);
}

async function nameOf(name: string | number): Promise<string> {
  if (typeof name === 'number') return `[${name}]`;
  const whole = quoted(name);
  if (whole.length <= maxName) return whole;
  return `${shownHead(name, maxName, quoted)}…(${name.length} characters, SHA-256 ${await hashOf(
    JSON.stringify(name),
  )})`;
}

/** Enough digits for a person to compare; the approval itself is bound to the whole input. */
async function hashOf(text: string): Promise<string> {
  return (await sha256(text)).slice(0, 16);
}

/** Whose decision it is, and where. */
export interface ClaimHost {
  readonly agent: Agent;
  readonly principal: Principal;
  readonly request: { readonly chat: { readonly id: string } };
}

/**
 * Returns the claim on a decision about something, which is JSON: digests over everything that the decision is about. Whose it is, in
 * which chat, by which agent, which tool as it was, with what input.
 */
export async function claimOn(host: ClaimHost, about: readonly unknown[]): Promise<SpendClaim> {
  const { tenant, subject } = host.principal;
  return { tenant, subject, ...await digestsOf([tenant, { subject }], host, about) };
}

/** Returns what version 0.2 wrote for the same decision: it named the tenant alone. */
export function earlierClaim(host: ClaimHost, about: readonly unknown[]): Promise<EarlierClaim> {
  return digestsOf([host.principal.tenant], host, about);
}

async function digestsOf(
  owner: readonly unknown[],
  { request: { chat }, agent: { id, revision } }: ClaimHost,
  about: readonly unknown[],
): Promise<EarlierClaim> {
  const [place, binding] = await Promise.all([
    sha256(canonicalJson([...owner, chat.id, id])),
    sha256(canonicalJson([...owner, chat.id, [id, revision], ...about])),
  ]);
  return { place, binding };
}

const unspendable: Readonly<Record<UnspendableReason, string>> = {
  approval_not_found: 'no approval has this id',
  approval_undecided: 'no one has decided on it yet',
  approval_expired: 'its approval has expired; ask for it again',
  approval_spent: 'its approval was used before; each is good for one call',
  approval_moved: 'its approval was given in another chat or to another agent',
  preview_changed: 'what was shown of it has changed since; it has to be asked for again',
  approval_altered: 'the call, its tool or its agent has changed since the approval was asked for',
};

/** The error of a call that was not approved. */
export function notApproved(toolId: string, decision: SpentDecision | Unspendable): PinnaceError {
  if ('unspendable' in decision) {
    const { unspendable: reason } = decision;
    const message = `Tool "${toolId}" was not called: ${unspendable[reason]}`;
    return new PinnaceError('approval_required', message, { details: { reason } });
  }
  const why = decision.reason === undefined ? '' : `: ${decision.reason}`;
  return new PinnaceError('forbidden', `Tool "${toolId}" was not called: a person denied it${why}`, {
    details: { reason: 'approval_denied' },
  });
}
