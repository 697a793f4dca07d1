/** Rules for the other fields of a definition: annotations, icons, execution, and unknown ones. */

import { asRecord } from '../../base/is-record.ts';
import { below, error, type Remark, warning } from './finding.ts';

/** The fields of a tool's definition that MCP knows (2026-07-28). */
export const knownFields: ReadonlySet<string> = new Set([
  'name',
  'title',
  'description',
  'inputSchema',
  'outputSchema',
  'annotations',
  'execution',
  'icons',
  '_meta',
]);

/** What is wrong with a definition besides its name, its texts and its schemas. `origin` is the server's. */
export function checkFields(definition: Readonly<Record<string, unknown>>, origin: string): readonly Remark[] {
  const unknown = Object.keys(definition).filter((key) => !knownFields.has(key));
  return [
    ...checkTexts(definition),
    ...unknown.map((key) => warning('unknown_field', 'is no field that MCP knows', below('', key))),
    ...checkAnnotations(definition),
    ...checkIcons(definition['icons'], origin),
    ...(needsTask(definition)
      ? [
        warning(
          'needs_task',
          'can only be called as a task, which is not supported: the tool is left out',
          '/execution',
        ),
      ]
      : []),
  ];
}

/** Whether a tool can only be called as a task. */
export function needsTask(definition: Readonly<Record<string, unknown>>): boolean {
  return asRecord(definition['execution'])['taskSupport'] === 'required';
}

function checkTexts({ title, description, annotations }: Readonly<Record<string, unknown>>): readonly Remark[] {
  const bounds = [
    ['/title', title, 200],
    ['/annotations/title', asRecord(annotations)['title'], 200],
    ['/description', description, 4096],
  ] as const;
  return bounds.flatMap(([path, text, most]) =>
    text === undefined || (typeof text === 'string' && text.length <= most)
      ? []
      : typeof text === 'string'
      ? [warning('text_length', `is longer than ${most} characters: read to its end`, path)]
      : [error('text_type', 'must be a text', path)]
  );
}

const hints = new Set(['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint']);
/** Verbs that never only read, and those that mostly do more. */
const destroying = /^(?:delete|destroy|purge)(?=[_./A-Z-]|$)/;
const acting =
  /^(?:remove|drop|send|write|create|update|insert|set|put|post|patch|execute|exec|run|kill|push|publish|pay|transfer|upload|move|rename|merge|deploy|revoke|grant)(?=[_./A-Z-]|$)/;

function checkAnnotations({ name, annotations }: Readonly<Record<string, unknown>>): readonly Remark[] {
  if (annotations === undefined) return [];
  const record = asRecord(annotations);
  const odd = Object.entries(record).filter(([key, value]) =>
    hints.has(key) ? typeof value !== 'boolean' : key !== 'title'
  );
  const claims = record['readOnlyHint'] === true ? String(name) : '';
  const why = 'claims only to read, which its name denies';
  return [
    ...odd.map(([key]) => warning('annotation', 'is no hint of MCP', below('/annotations', key))),
    ...(destroying.test(claims) ? [error('false_hint', why, '/annotations/readOnlyHint')] : []),
    ...(acting.test(claims) ? [warning('false_hint', why, '/annotations/readOnlyHint')] : []),
  ];
}

function checkIcons(icons: unknown, origin: string): readonly Remark[] {
  if (icons === undefined) return [];
  if (!Array.isArray(icons)) return [error('icon', 'must be a list', '/icons')];
  return icons.flatMap((icon, i) =>
    isHarmless(asRecord(icon)['src'], origin)
      ? []
      : [error('icon', 'must come from its own server, or be a PNG, JPEG or WebP image', below('/icons', i))]
  );
}

function isHarmless(src: unknown, origin: string): boolean {
  if (typeof src !== 'string') return false;
  if (/^data:image\/(?:png|jpeg|webp);base64,/.test(src)) return true;
  const url = URL.parse(src);
  return url?.protocol === 'https:' && url.origin === origin && url.username === '' && url.password === '';
}
