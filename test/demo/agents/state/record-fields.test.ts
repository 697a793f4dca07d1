import { describe, expect, it } from 'vitest';
import { sampleAgents } from '../../../../demo/samples/agents.ts';
import type { AnyRecord } from '../../../../demo/control/registry-control.ts';
import {
  changedFields,
  placeIssue,
  readSelections,
  valuesOf,
  withFields,
  writeSelections,
  wrongIn,
} from '../../../../demo/agents/state/record-fields.ts';
import { kindNames, kinds } from '../../../../demo/agents/state/record-forms.ts';
import type { CatalogInputs, RecordKind } from '../../../../src/registry/index.ts';
import { readRecord, recordSchemas } from '../../../../src/registry/record-kinds.ts';

const full: { readonly [Kind in RecordKind]: CatalogInputs[Kind] } = {
  agent: {
    ...sampleAgents[0]!,
    tags: ['a', 'b'],
    mcp: { files: { allow: ['read_*'], mask: ['write'] }, mail: {} },
    secrets: [{ id: 'key' }],
    dataSources: ['charts'],
    egress: ['https://api.example.com'],
    plans: true,
    facts: ['date'],
    model: 'small',
    fallbacks: [{ providerId: 'spare', model: 'tiny' }],
    modelSettings: {
      temperature: 0.5,
      seed: 7,
      reasoning: 'high',
      toolChoice: 'required',
      stopSequences: ['END'],
      providerOptions: { openai: { serviceTier: 'flex' } },
      headers: { 'x-team': 'maps' },
    },
    output: { schema: { type: 'object' }, name: 'place' },
    limits: { steps: 4, toolMs: 500, reasoningMs: 9000 },
  },
  tool: {
    id: 'forecast',
    name: 'forecast',
    title: 'Forecast',
    type: 'http',
    description: 'Tells the weather',
    paramsSchema: { type: 'object', properties: { port: { type: 'string', default: null } } },
    outputSchema: { type: 'object' },
    annotations: { readOnlyHint: true },
    category: 'weather',
    keywords: ['wind'],
    authn: 'A key',
    approval: 'mutating',
    secrets: [{ id: 'key' }],
    config: { method: 'GET', url: 'https://weather.example/{port}' },
  },
  mcpServer: {
    id: 'files',
    alias: 'files',
    url: 'https://files.example/mcp',
    secret: { id: 'key' },
    auth: {
      issuer: 'https://login.example',
      grantee: 'tenant',
      scopes: ['read', 'write'],
      client: { id: 'page', secret: { id: 'key' } },
    },
    media: true,
    apps: true,
  },
  provider: {
    unsupportedParameters: ['stream_options'],
    id: 'lab',
    kind: 'openai-compatible',
    baseUrl: 'https://lab.example/v1',
    model: 'small',
    secret: { id: 'key' },
    jsonSchema: true,
    inputs: ['image'],
    toolContent: true,
    prices: { input: 1, output: 2, cachedInput: 0.5, cacheWrite: 3, currency: 'USD' },
  },
  dataSource: {
    id: 'charts',
    name: 'Charts',
    kind: 'records',
    description: 'Depths',
    tags: ['sea'],
    secret: { id: 'key' },
    config: { path: { to: ['x'] } },
  },
};

function recordOf(kind: RecordKind): AnyRecord {
  return readRecord[kind](full[kind], 'the record');
}

describe.each(kindNames)('the form of %s', (kind) => {
  const { fields } = kinds[kind];

  it('writes what it has read', () => {
    const record = recordOf(kind);
    expect(withFields(record, fields, valuesOf(fields, record))).toEqual(record);
  });

  it('shows every field that its author can set', () => {
    const stored = ['tenant', 'state', 'revision', 'createdAt', 'updatedAt'];
    // What the check of a server says, who names a tool, names of before and bounds of calls are not for this form. What concerns
    // programs, undo and changed inputs is written in code, or over HTTP.
    const ofServer = ['status', 'findings', 'pinned', 'validatedAt', 'boundAgents', 'renamedFrom'];
    const elsewhere = [...ofServer, 'callers', 'undoable', 'edit'];
    const limits = kind === 'tool' ? ['limits'] : [];
    const shown = new Set(fields.map(({ name }) => name.split('.', 1)[0]));
    const missing = Object.keys(recordSchemas[kind].entries).filter((name) => !shown.has(name));
    expect(missing.filter((name) => ![...stored, ...elsewhere, ...limits].includes(name))).toEqual([]);
  });

  it('takes nothing away from a record that is changed in one field', () => {
    const record = recordOf(kind);
    const before = valuesOf(fields, record);
    const after = { ...before, version: '2.0.0' };
    expect(withFields(record, changedFields(fields, before, after), after)).toEqual({ ...record, version: '2.0.0' });
  });

  it('leaves out what is left empty', () => {
    const empty = Object.fromEntries(fields.map(({ name, as }) => [name, as === 'flag' ? 'no' : '']));
    const values = Object.values(withFields({}, fields, empty)).filter((value) => value !== '' && value !== false);
    expect(values.every((value) => JSON.stringify(value) === '[]' || JSON.stringify(value) === '{}')).toBe(true);
  });
});

describe('the fields of a record', () => {
  it('place what is wrong with an entry beside its field, with its words', () => {
    const { fields } = kinds.agent;
    const values = {
      ...valuesOf(fields, undefined),
      entryTools: 'calculator\nclock',
      secrets: 'a\nb',
    };
    const place = (path: string) => placeIssue({ path, message: 'is wrong' }, fields, values);
    expect(place('entryTools.1')).toEqual({ field: 'entryTools', text: '“clock” is wrong.' });
    expect(place('secrets.1.id')).toEqual({ field: 'secrets', text: '“b” is wrong.' });
    expect(place('limits.steps')).toEqual({ field: 'limits.steps', text: 'Steps is wrong.' });
    expect(place('mcp.files.allow.0')).toEqual({ field: 'mcp', text: 'MCP servers is wrong.' });
    expect(place('revision')).toBeUndefined();
  });

  it('take a list only where the record has one, and an object everywhere else', () => {
    const inputs = kinds.provider.fields.find(({ name }) => name === 'inputs')!;
    const config = kinds.dataSource.fields.find(({ name }) => name === 'config')!;
    expect([wrongIn(inputs, '["image"]'), wrongIn(config, '{"a": 1}'), wrongIn(config, '')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(wrongIn(inputs, '{}')).toBe('Supported files must be JSON, a list.');
    expect(wrongIn(config, '[1]')).toBe('Configuration must be JSON, an object.');
  });
});

describe('the MCP servers of an agent', () => {
  it('are lines with what is allowed and what is masked', () => {
    const text = 'files: read_*, list, -delete\nmail\nnotes: -purge';
    const selections = { files: { allow: ['read_*', 'list'], mask: ['delete'] }, mail: {}, notes: { mask: ['purge'] } };
    expect(writeSelections(` ${text.replaceAll(', ', ' ,')}\n\n`)).toEqual(selections);
    expect(readSelections(selections)).toBe(text);
  });

  it('distinguish an agent without a list of secrets from one that allows none', () => {
    const fields = kinds.agent.fields.filter(({ name }) => name === 'secrets');
    const shown = (secrets: unknown) => valuesOf(fields, { ...full.agent, secrets } as AnyRecord)['secrets'];
    expect([shown(undefined), shown([]), shown([{ id: 'k' }])]).toEqual(['', '-', 'k']);
    const written = (text: string) => withFields({}, fields, { secrets: text });
    expect([written(''), written('-'), written('a b')]).toEqual([{}, { secrets: [] }, {
      secrets: [{ id: 'a' }, { id: 'b' }],
    }]);
  });
});
