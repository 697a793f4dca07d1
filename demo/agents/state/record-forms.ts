/** What people see of each kind of record: its names, its filters, and the fields of its form. */

import type { RecordKind } from '../../../src/registry/index.ts';
import { callFields, contextTokens, numbers } from './call-fields.ts';
import type { FieldSpec } from './record-fields.ts';

export interface KindSpec {
  readonly one: string;
  readonly many: string;
  readonly about: string;
  /** What it has of what lists are narrowed by. */
  readonly filters: {
    readonly tag?: true;
    readonly visibility?: readonly string[];
    readonly type?: readonly string[];
  };
  readonly fields: readonly FieldSpec[];
  /** Parts of the form that wait folded, with the names of their fields: most records do without. */
  readonly folded: readonly (readonly [title: string, fields: readonly string[]])[];
}

const id: FieldSpec = {
  name: 'id',
  label: 'Id',
  as: 'optional',
  isFixed: true,
  help: 'Letters, digits, “_”, “.” and “-”. It cannot be changed later. Leave empty to generate one.',
};
const version: FieldSpec = {
  name: 'version',
  label: 'Version',
  as: 'text',
  initial: '0.1.0',
  help: 'For people, like 1.0.0.',
};
const description: FieldSpec = {
  name: 'description',
  label: 'Description',
  as: 'area',
  rows: 2,
  isShownApart: true,
};
const tags: FieldSpec = { name: 'tags', label: 'Tags', as: 'commas', help: 'Separated by commas.' };
const secret: FieldSpec = {
  name: 'secret',
  label: 'Secret',
  as: 'secret',
  help: 'The name of a secret in the vault. Add it under “Secrets”.',
};

function choice(name: string, label: string, options: readonly string[]): FieldSpec {
  return { name, label, as: 'choice', options, initial: options[0] ?? '' };
}

const agentVisibility = ['public', 'internal', 'disabled'];
const toolVisibility = ['public', 'internal', 'hidden'];
const toolTypes = ['http', 'function', 'extension', 'code', 'datastore', 'agent', 'builtin', 'mcp'];
const providerKinds = ['openai-compatible', 'rehearsal', 'custom'];
const sourceKinds = ['text', 'vector', 'records', 'code'];

/** Who signs in to an MCP server, and where. */
const signInFields: readonly FieldSpec[] = [
  {
    name: 'auth.issuer',
    label: 'Issuer',
    as: 'optional',
    group: 'Sign-in',
    owns: 'auth',
    help:
      'For servers with OAuth, in place of the secret: the authorization server that you trust, like https://login.example.com.',
  },
  { ...choice('auth.grantee', 'Who signs in', ['user', 'tenant']), group: 'Sign-in' },
  {
    name: 'auth.scopes',
    label: 'Scopes',
    as: 'words',
    group: 'Sign-in',
    help: 'The scopes to request at most, separated by spaces. Leave empty to request what the server asks for.',
  },
  {
    name: 'auth.client.id',
    label: 'Client id',
    as: 'optional',
    group: 'Sign-in',
    owns: 'auth.client',
    help: 'The client that you registered at the issuer. Leave empty to let this page register itself.',
  },
];

/** The kinds, in the order in which people meet them. */
export const kinds: Readonly<Record<RecordKind, KindSpec>> = {
  agent: {
    one: 'agent',
    many: 'Agents',
    about: 'Instructions, a model, and the tools that the agent may use.',
    filters: { tag: true, visibility: agentVisibility },
    folded: [
      ['Model', ['providerId', 'model', 'fallbacks', 'contextTokens', 'modelSettings']],
      ['Limits and secrets', ['limits', 'secrets', 'egress']],
      ['Tools, servers and files by id', ['entryTools', 'mcp', 'dataSources']],
      ['More settings', [
        'id',
        'role',
        'version',
        'visibility',
        'trust',
        'plans',
        'tags',
        'facts',
        'output',
        'callerSettings',
      ]],
    ],
    fields: [
      { name: 'name', label: 'Name', as: 'text' },
      description,
      { name: 'instructions', label: 'Instructions', as: 'area', rows: 10, isShownApart: true },
      id,
      { name: 'role', label: 'Role', as: 'text' },
      version,
      choice('visibility', 'Visibility', agentVisibility),
      {
        ...choice('trust', 'Texts of strangers', ['', 'open', 'watched', 'guarded']),
        empty: 'Automatic',
        words: { open: 'Act without asking', watched: 'Ask before each action', guarded: 'Hide them from the model' },
        help:
          'Mails, pages, files and answers of MCP servers can contain instructions. Choose what the agent may do with them.',
      },
      {
        name: 'plans',
        label: 'Plans over HTTP',
        as: 'flag',
        help:
          'Lets clients of an endpoint have this agent plan with sub-agents. One request can then make many model calls.',
      },
      { name: 'providerId', label: 'Provider', as: 'choice', initial: 'default' },
      { name: 'model', label: 'Model', as: 'optional', help: 'Leave empty for the provider’s model.' },
      {
        name: 'fallbacks',
        label: 'Fallback models',
        as: 'models',
        rows: 2,
        help: 'Used when the model cannot answer. One per line: provider, colon, model. “-” for none.',
      },
      tags,
      {
        name: 'entryTools',
        label: 'Tools',
        as: 'lines',
        rows: 5,
        help: 'One tool id per line, or a prefix with “*”.',
      },
      {
        name: 'mcp',
        label: 'MCP servers',
        as: 'selections',
        rows: 3,
        help:
          'One server id per line. To allow only some tools, add a colon and their names; “-” before a name blocks it.',
      },
      { name: 'dataSources', label: 'Data sources', as: 'lines', rows: 2, help: 'One id per line.' },
      {
        name: 'facts',
        label: 'Facts',
        as: 'lines',
        rows: 1,
        help: '“date” tells the agent today’s date. Leave empty for none.',
      },
      {
        name: 'secrets',
        label: 'Secrets',
        as: 'allowedSecrets',
        rows: 2,
        help: 'The names of the secrets that its tools may use; “-” for none. Leave empty to allow those of each tool.',
      },
      {
        name: 'egress',
        label: 'Allowed origins',
        as: 'allowedLines',
        rows: 2,
        help:
          'Where its tools may send requests, like https://api.example.com or https://*.example.com; “-” for nowhere. Leave empty to allow what each tool does.',
      },
      contextTokens,
      ...callFields,
    ],
  },
  tool: {
    one: 'tool',
    many: 'Tools',
    about: 'What agents can do. Built-in tools are code; you can add HTTP requests and sandboxed code.',
    filters: { tag: true, visibility: toolVisibility, type: toolTypes },
    folded: [
      ['As JSON', ['paramsSchema', 'outputSchema', 'config', 'annotations']],
      ['More settings', ['id', 'title', 'version', 'visibility', 'category', 'keywords', 'authn', 'secrets']],
      ['Sources and destinations of its data', ['reads', 'sends', 'destinations']],
    ],
    fields: [
      id,
      {
        name: 'name',
        label: 'Name',
        as: 'identifier',
        help: 'The name that models use: “Get weather” becomes get_weather.',
      },
      { name: 'title', label: 'Title', as: 'optional' },
      choice('type', 'Type', toolTypes),
      version,
      choice('visibility', 'Visibility', toolVisibility),
      {
        ...choice('approval', 'Approval', ['', 'never', 'mutating', 'always']),
        empty: 'Automatic',
        words: { never: 'Never ask', mutating: 'Ask before changes', always: 'Always ask' },
      },
      {
        ...choice('reads', 'What it returns', ['', 'trusted', 'untrusted', 'private']),
        empty: 'Automatic',
        words: {
          trusted: 'Only our own texts',
          untrusted: 'Texts of strangers',
          private: 'Private texts of strangers',
        },
      },
      {
        ...choice('sends', 'Who sees its input', ['', 'public', 'tenant', 'principal']),
        empty: 'Automatic',
        words: { public: 'Anyone', tenant: 'The tenant', principal: 'The person who asks' },
      },
      {
        name: 'destinations',
        label: 'Destinations',
        as: 'allowedLines',
        rows: 2,
        help: 'Inputs that say where or to whom, such as /to, one per line; “-” for none. Leave empty for all texts.',
      },
      { name: 'category', label: 'Category', as: 'optional' },
      { name: 'keywords', label: 'Keywords', as: 'commas', help: 'Separated by commas.' },
      { ...description, help: 'Models read this to choose a tool.' },
      {
        name: 'paramsSchema',
        label: 'Parameters',
        as: 'json',
        rows: 10,
        initial: '{\n  "type": "object",\n  "properties": {}\n}',
        help: 'A JSON Schema for an object.',
        isShownApart: true,
      },
      {
        name: 'outputSchema',
        label: 'Output',
        as: 'json',
        rows: 4,
        help: 'A JSON Schema. Optional.',
        isShownApart: true,
      },
      {
        name: 'config',
        label: 'Configuration',
        as: 'json',
        rows: 6,
        help:
          'Settings of the tool’s type, such as the method and URL of an HTTP tool. Refer to secrets as {{secret:NAME}}.',
      },
      { name: 'annotations', label: 'Hints', as: 'json', rows: 3, help: 'Like {"readOnlyHint": true}.' },
      { name: 'authn', label: 'Credentials', as: 'optional', help: 'What the tool needs, described for people.' },
      {
        name: 'secrets',
        label: 'Secrets',
        as: 'secrets',
        rows: 2,
        help: 'The names of the secrets that the tool may use.',
      },
    ],
  },
  mcpServer: {
    one: 'MCP server',
    many: 'MCP servers',
    about: 'Tools from other servers. Agents see only what you have approved.',
    filters: {},
    folded: [
      ['More settings: name, secret, sign-in', [
        'id',
        'alias',
        'version',
        'secret',
        'auth',
        'media',
        'apps',
        'trust',
        'ifc',
      ]],
    ],
    fields: [
      {
        name: 'url',
        label: 'URL',
        as: 'text',
        help:
          'The address of its Streamable HTTP endpoint, such as https://mcp.example.com/mcp. A server of Pinnace reaches ' +
          'addresses of its own network only where its option “privateOrigins” names them.',
      },
      id,
      {
        name: 'alias',
        label: 'Name',
        as: 'text',
        help: 'Prefix of its tool names: “files” makes “files__read”. Use a–z, 0–9, “-” and single “_”.',
      },
      version,
      {
        ...secret,
        help: 'The name of a secret in the vault, sent as a bearer token to this URL only. Add it under “Secrets”.',
      },
      ...signInFields,
      {
        name: 'media',
        label: 'Media',
        as: 'flag',
        initial: 'no',
        help: 'Pass images, audio and files in results to the model.',
      },
      {
        name: 'apps',
        label: 'Apps',
        as: 'flag',
        initial: 'no',
        help: 'Show the apps of its tools in chats, each in a separate frame. You approve them with the tools.',
      },
      {
        ...choice('trust', 'Who writes what it returns', ['', 'trusted']),
        empty: 'Also strangers',
        words: { trusted: 'Only us' },
      },
      {
        ...choice('ifc', 'Labels that it sends', ['', 'believe']),
        empty: 'Use them where they are stricter',
        words: { believe: 'Always use them' },
      },
    ],
  },
  provider: {
    one: 'provider',
    many: 'Providers',
    about: 'Servers whose models your agents use.',
    filters: { type: providerKinds },
    folded: [
      ['Prices', ['prices']],
      [
        'More settings',
        [
          'version',
          'contextTokens',
          'jsonSchema',
          'unsupportedParameters',
          'cache',
          'toolLoading',
          'inputs',
          'toolContent',
        ],
      ],
    ],
    fields: [
      id,
      choice('kind', 'Kind', providerKinds),
      version,
      { name: 'baseUrl', label: 'Base URL', as: 'optional', help: 'Like https://api.example.com/v1.' },
      { name: 'model', label: 'Model', as: 'optional', help: 'Used when the agent does not set a model.' },
      contextTokens,
      secret,
      {
        name: 'jsonSchema',
        label: 'JSON Schema',
        as: 'flag',
        initial: 'no',
        help: 'Its models accept a JSON Schema for their answer.',
      },
      {
        name: 'unsupportedParameters',
        label: 'Unsupported parameters',
        as: 'lines',
        rows: 2,
        help: 'Like stream_options, one on each line. Leave empty: refusals of the server are remembered.',
      },
      {
        name: 'cache',
        label: 'Prompt cache',
        as: 'optional',
        help:
          'How prompts are marked for the cache of its server: off, marks, key, salt or 1h. Leave empty for the default.',
      },
      {
        name: 'toolLoading',
        label: 'Loaded tools',
        as: 'optional',
        help: 'call, or native where Anthropic or OpenAI take definitions within a chat. Leave empty for call.',
      },
      {
        name: 'inputs',
        label: 'Supported files',
        as: 'json',
        isList: true,
        help: 'Like ["image", "pdf", "audio"]. [] means text only. Leave empty if you do not know.',
      },
      {
        name: 'toolContent',
        label: 'Files in tool results',
        as: 'flag',
        initial: 'no',
        help: 'Its models accept files in tool results.',
      },
      ...numbers('prices', 'Prices', {
        input: 'Input tokens',
        output: 'Output tokens',
        cachedInput: 'Cache read tokens',
        cacheWrite: 'Cache write tokens',
      }),
      { name: 'prices.currency', label: 'Currency', as: 'optional', group: 'Prices' },
    ],
  },
  dataSource: {
    one: 'data source',
    many: 'Data sources',
    about: 'Sources that agents search for context.',
    filters: { tag: true, type: sourceKinds },
    folded: [['More settings', ['id', 'version', 'tags', 'secret']]],
    fields: [
      id,
      { name: 'name', label: 'Name', as: 'text' },
      choice('kind', 'Kind', sourceKinds),
      version,
      tags,
      secret,
      description,
      {
        name: 'config',
        label: 'Configuration',
        as: 'json',
        rows: 6,
        help: 'Settings for its kind. Never enter a secret’s value.',
      },
    ],
  },
};

/** The kinds in order. */
export const kindNames = Object.keys(kinds) as readonly RecordKind[]; // safe: its keys are the kinds
