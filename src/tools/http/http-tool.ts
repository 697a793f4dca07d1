/** Makes a tool of an HTTP request described as data: its origin is fixed, and the input fills in only what the template names. */

import { isRecord } from '../../base/is-record.ts';
import { loadOnce } from '../../base/load-once.ts';
import type * as v from 'valibot';
import { PinnaceError } from '../../base/errors.ts';
import { parse } from '../../base/parse.ts';
import { ToolDefinition } from '../../base/schema.ts';
import type { HttpToolOptions } from './call-http.ts';
import { HttpToolConfig, type HttpToolConfigInput, isReadOnly, needsApproval, secretNames } from './config.ts';
import { checkBy } from '../json-schema/json-schema.ts';
import type { TemplateValues } from './template.ts';
import type { Tool } from '../tool.ts';

/** The stored definition of a tool of type `http`. */
export type HttpToolDefinition =
  & Omit<v.InferInput<typeof ToolDefinition>, 'name' | 'type' | 'config'>
  & { readonly name?: string; readonly type?: 'http'; readonly config: HttpToolConfigInput };

export type { HttpToolOptions } from './call-http.ts';

const load = /* @__PURE__ */ loadOnce(() => import('./call-http.ts'));

/**
 * Creates the tool. Whether a call needs an approval is decided elsewhere: see `needsApproval`.
 *
 * @throws PinnaceError `invalid_argument` for a definition, a schema or a template that is none, and for a template that uses a
 * secret which the definition does not list.
 */
export function createHttpTool(definition: HttpToolDefinition, options: HttpToolOptions): Tool {
  const what = `the definition of tool "${definition.id}"`;
  const parsed = parse(ToolDefinition, { name: definition.id, type: 'http', ...definition }, { what });
  const config = parse(HttpToolConfig, definition.config, { what: `the template of tool "${definition.id}"` });
  checkSecrets(parsed, config);
  const check = checkBy(parsed.paramsSchema);
  return {
    definition: withPolicy(parsed, config),
    secretOrigin: new URL(config.origin).origin,
    describe: () => `${config.method} ${config.origin}${config.path}`,
    check: (value) =>
      isRecord(value) ? check(value) : { ok: false, issues: [{ path: '', message: 'must be an object' }] },
    // `check` has let nothing but objects through, and invokeTool calls nothing that was not checked.
    async execute(input, context) {
      const { callHttp } = await load();
      return await callHttp(config, input as TemplateValues['input'], { ...options, ...context });
    },
  };
}

/** The method decides what a call may do, whatever else the definition says. */
function withPolicy(definition: ToolDefinition, config: HttpToolConfig): ToolDefinition {
  const approval = needsApproval(config) ? 'always' : definition.approval ?? 'never';
  return { ...definition, approval, annotations: { ...definition.annotations, readOnlyHint: isReadOnly(config) } };
}

function checkSecrets({ id, secrets }: ToolDefinition, config: HttpToolConfig): void {
  const missing = secretNames(config).find((name) => !secrets.some((secret) => secret.id === name));
  if (missing === undefined) return;
  throw new PinnaceError(
    'invalid_argument',
    `Cannot define tool "${id}": its template uses the secret "${missing}", which its "secrets" must list`,
    { details: { reason: 'secret_not_listed' } },
  );
}
