/** The table of `details.reason`: each reason of the code has a row with its codes, and each row a use. */

import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseAst } from 'vite';
import { describe, expect, it } from 'vitest';
import { problemCodes } from '../../../src/base/errors.ts';

const root = join(import.meta.dirname, '../../..');
const pages = ['error-reasons', 'error-reasons-tools', 'error-reasons-data'];

/** Where a `reason` outside of an error says something else: gaps of streams, breaks of the audit, interrupts of AG-UI. */
const others = /events\/(?:verify-chain|event-feed|store-feed)\.ts$|agui-dialect\.ts$/;

/** Reasons that the code computes, with where it does. */
const computed: Readonly<Record<string, string>> = {
  'src/base/parse.ts': 'invalid_data',
  'src/base/check-url.ts':
    'too_long forbidden_character scheme_not_allowed credentials_or_escapes_in_authority origin_not_listed port_not_allowed ' +
    'address_not_canonical address_not_public host_not_public',
  'src/registry/record-kinds.ts': 'secret_not_allowed header_not_allowed method_not_allowed missing invalid_value',
  'src/registry/collection.ts':
    'agent_not_found tool_not_found mcp_server_not_found provider_not_found data_source_not_found',
  'src/permission/authorize.ts': 'permission_check_failed permission_check_timeout own_request not_an_approver',
  'src/tools/call-approval.ts':
    'approval_not_found approval_undecided approval_expired approval_spent approval_moved approval_altered',
  'src/tools/call-ends.ts': 'tool_timeout run_timeout cancelled run_failed worker_lost superseded',
  'src/runtime/budgets.ts': 'period_tokens period_cost period_runs period_bytes',
  'src/planner/settle.ts': 'agent_timeout plan_timeout repeated',
  'src/planner/carry-out.ts': 'agents_limit steps_limit tokens_limit cost_limit',
  'src/planner/draft.ts': 'child_failed',
  'src/planner/open-planner.ts': 'requested',
  'src/tree/tree-call.ts': 'read_only role',
  'src/mcp/sign-in-failures.ts': 'mcp_auth_changed',
  'adapters/mcp/grounding.ts': 'mcp_sign_in_required mcp_not_validated',
  'adapters/transport/http/admission.ts': 'tenant_quota subject_quota',
  'adapters/transport/signed/profile.ts': 'certificate_signature_invalid',
  'adapters/remote/request-json.ts':
    'catalog_headers catalog_unreachable catalog_too_large catalog_failed catalog_refused catalog_invalid ' +
    'secrets_headers secrets_unreachable secrets_too_large secrets_failed secrets_refused secrets_invalid',
};

interface Node {
  readonly type: string;
  readonly [name: string]: unknown;
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value;

/** Calls `see` for the node and all below it, each with those above it, the nearest last, and collects what it returns. */
function collect<T>(node: Node, see: (node: Node, above: readonly Node[]) => readonly T[], above: Node[] = []): T[] {
  const found = [...see(node, above)];
  above.push(node);
  for (const value of Object.values(node)) {
    if (typeof value !== 'object') continue;
    for (const child of Array.isArray(value) ? value : [value]) {
      if (isNode(child)) found.push(...collect(child, see, above));
    }
  }
  above.pop();
  return found;
}

/** The literals that an expression may be. */
function textsOf(value: unknown): readonly string[] {
  if (!isNode(value)) return [];
  if (value.type === 'ConditionalExpression') return [...textsOf(value['consequent']), ...textsOf(value['alternate'])];
  const { value: text } = value;
  return value.type === 'Literal' && typeof text === 'string' && /^[a-z][a-z0-9_]*$/.test(text) ? [text] : [];
}

const nameOf = (value: unknown): string => isNode(value) ? String(value['name']) : '';
const listOf = (value: unknown): readonly Node[] => Array.isArray(value) ? value.filter(isNode) : [];

/** The code of `new PinnaceError('…')` and of functions that take it first. */
function codeOf({ type, arguments: given }: Node): string | undefined {
  if (type !== 'NewExpression' && type !== 'CallExpression') return undefined;
  const [code] = textsOf(listOf(given)[0]);
  return problemCodes.find((known) => known === code);
}

const files = globSync('{src,adapters}/**/*.{ts,tsx}', { cwd: root })
  .filter((path) => path !== 'src/simulation/faults.ts'); // faults are planted
const trees = new Map(files.map((path) => {
  const tree: unknown = parseAst(readFileSync(join(root, path), 'utf8'), { lang: path.endsWith('x') ? 'tsx' : 'ts' });
  return [path, tree as Node] as const; // safe: an ESTree has types
}));

/** The functions with a parameter `reason`: its place, and the code of the error that they make. */
const makers = new Map([...trees].flatMap(([path, tree]) =>
  collect(tree, (node) => {
    const at = node.type === 'FunctionDeclaration'
      ? listOf(node['params']).findIndex((one) => (one['name'] ?? nameOf(one['left'])) === 'reason')
      : -1;
    const code = at < 0 ? undefined : collect(node, (one) => [codeOf(one) ?? []].flat())[0];
    return at < 0 ? [] : [[`${path}:${nameOf(node['id'])}`, { at, code }] as const];
  })
));

/** The reasons in a file, each with the code that it comes with, where that is written beside it. */
function usesIn(path: string, tree: Node) {
  const origins = new Map(
    listOf(tree['body']).flatMap(({ specifiers, source }) =>
      listOf(specifiers).map((one) => {
        const from = join(dirname(path), String(isNode(source) ? source['value'] : ''));
        return [nameOf(one['local']), `${from}:${nameOf(one['imported'])}`] as const;
      })
    ),
  );
  return collect(tree, (node, above) => {
    if (node.type === 'Property' && nameOf(node['key']) === 'reason') {
      const code = above.map(codeOf).findLast((one) => one !== undefined);
      const isOther = code === undefined && others.test(path);
      return isOther ? [] : textsOf(node['value']).map((reason) => ({ reason, code, path }));
    }
    if (node.type !== 'CallExpression') return [];
    const name = nameOf(node['callee']);
    const maker = makers.get(origins.get(name) ?? `${path}:${name}`);
    if (!maker) return [];
    return textsOf(listOf(node['arguments'])[maker.at]).map((reason) => ({ reason, code: maker.code, path }));
  });
}

/** Whether the function that makes the error receives the reason, also as a field of what it receives. */
const isPassedOn = (path: string, above: readonly Node[]): boolean =>
  /base\/errors|planner\/failure|planner\/agent-changes|tree\/payload-types|registry\/fields/.test(path) ||
  above.some(({ params }) => listOf(params).some((one) => one['name'] === 'reason'));

/** The codes of each reason in the guides. */
const rows = new Map<string, string>();
for (const page of pages) {
  const text = readFileSync(join(root, `docs/${page}.md`), 'utf8');
  for (const [, reasons = '', codes = ''] of text.matchAll(/^\| (`.*?) *\| (`.*?) *\|/gm)) {
    for (const [, reason = ''] of reasons.matchAll(/`([a-z0-9_]+)`/g)) {
      rows.set(reason, `${rows.get(reason) ?? ''}${codes}`);
    }
  }
}

describe('the reasons of errors', () => {
  const uses = [...trees].flatMap(([path, tree]) => usesIn(path, tree));
  const used = new Set([...uses.map(({ reason }) => reason), ...Object.values(computed).join(' ').split(' ')]);

  it('have a row each in the guides', () => {
    expect(used.size).toBeGreaterThan(300); // the search finds them at all
    const missing = uses.filter(({ reason }) => !rows.has(reason)).map(({ reason, path }) => `${reason} (${path})`);
    expect([...missing, ...[...used].filter((reason) => !rows.has(reason))]).toEqual([]);
  });

  it('are all used', () => {
    expect([...rows.keys()].filter((reason) => !used.has(reason))).toEqual([]);
    expect(Object.keys(computed).filter((path) => !trees.has(path))).toEqual([]);
  });

  it('are written out, or listed here as computed', () => {
    const hidden = [...trees].flatMap(([path, tree]) =>
      collect(tree, (node, above) => {
        const isReason = node.type === 'Property' && nameOf(node['key']) === 'reason' &&
          above.some((one) => one.type === 'Property' && nameOf(one['key']) === 'details');
        return isReason && textsOf(node['value']).length === 0 && !isPassedOn(path, above) &&
            !Object.hasOwn(computed, path)
          ? [path]
          : [];
      })
    );
    expect(hidden).toEqual([]);
  });

  it('come with the codes of their rows', () => {
    const wrong = uses.filter(({ reason, code }) => code !== undefined && !rows.get(reason)?.includes(`\`${code}\``));
    expect([...new Set(wrong.map(({ reason, code, path }) => `${reason}: ${code} (${path})`))]).toEqual([]);
  });
});
