/** The pages of the documentation beside the playground, in reading order. */

export interface Guide {
  /** Its file in `docs/`, without the ending. */
  readonly page: string;
  readonly title: string;
}

/** A guide's text by its sections, for searching. */
export type GuideText = readonly [
  page: string,
  sections: readonly (readonly [id: string, title: string, text: string])[],
];

/** Pages by what a reader wants to do: their files, and their titles. */
const titles: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Start: {
    tutorial: 'Tutorial',
    'tutorial-page': 'Tutorial: the page',
    'getting-started': 'Getting started',
    migrate: 'Migrate from the AI SDK',
    'bring-chats': 'Bring your chats along',
    'ten-tasks': 'Ten tasks',
    playground: 'Playground',
    screens: 'Screens',
    runs: 'Runs',
    agents: 'Agents',
    'agent-record': 'Agent and provider records',
    output: 'Structured answers',
    models: 'Models',
    chats: 'Stored chats',
    caching: 'Prompt caching',
    context: 'Long chats',
    memory: 'Memory',
    steering: 'Steering',
    budgets: 'Fallbacks and budgets',
    schedules: 'Schedules and hooks',
    webhooks: 'Webhooks',
    attachments: 'Attachments',
  },
  'Give agents tools': {
    tools: 'Tools',
    'tool-schemas': 'Tool schemas',
    programs: 'Programs',
    trust: 'Where values are from',
    guarded: 'Guarded agents',
    approvals: 'Approvals',
    undo: 'Undo',
    inbox: 'Inbox',
    'people-compared': 'People and time, compared',
    discovery: 'Discovery',
    skills: 'Skills',
    mcp: 'MCP',
    'mcp-content': 'Resources and prompts of MCP servers',
    'mcp-apps': 'Apps of MCP servers',
    'mcp-sign-in': 'Sign in to an MCP server',
    'mcp-answers': 'Questions of MCP servers',
    webmcp: 'WebMCP',
    'mcp-server': 'MCP server',
    'mcp-questions': 'Questions to MCP clients',
  },
  'Work on data': {
    tree: 'Tree',
    grounding: 'Grounding',
    registry: 'Registry',
  },
  'Run many agents': {
    'sub-agents': 'Sub-agents',
    planner: 'Plans',
  },
  'Serve, observe and protect': {
    react: 'React',
    'react-messages': 'Messages in React',
    'ag-ui': 'AG-UI',
    node: 'Node',
    platforms: 'Bun, Cloudflare, Next.js',
    endpoint: 'Endpoint',
    operations: 'Operations',
    'sign-in': 'Sign people in',
    callers: 'Callers and owners',
    'sign-by-hand': 'Sign requests by hand',
    watching: 'Observability',
    opentelemetry: 'OpenTelemetry',
    errors: 'Errors',
    'error-reasons': 'Reasons of errors',
    'error-reasons-tools': 'Reasons of tools',
    'error-reasons-data': 'Reasons of data',
    limits: 'Limits',
    'endpoint-limits': 'Limits of endpoints and MCP',
    permissions: 'Permissions',
    egress: 'Egress',
    secrets: 'Secrets',
  },
  'Test and repeat': {
    testing: 'Test an app',
    forks: 'Forks',
    recovery: 'Recovery',
    simulation: 'Simulation',
    evals: 'Evals',
  },
  Operate: {
    cli: 'Command line',
    upgrades: 'Upgrade to a new version',
    deploy: 'Deploy',
    'deploy-node': 'Deploy on Node',
    scaling: 'Scaling',
    capacity: 'Capacity',
    etcd: 'State in etcd',
    security: 'Security',
  },
  Extend: {
    entries: 'Entries',
    adapters: 'Adapters',
    contributing: 'Contributing',
  },
  About: {
    about: 'What Pinnace is',
    figures: 'Figures',
    api: 'API reference',
    changelog: 'Changelog',
  },
};

export const guideGroups = Object.entries(titles).map(([title, guides]) => ({
  title,
  guides: Object.entries(guides).map(([page, name]): Guide => ({ page, title: name })),
}));
