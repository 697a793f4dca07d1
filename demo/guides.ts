/** The pages of the documentation beside the playground, in reading order. */

export interface Guide {
  /** Its file in `docs/`, without the ending. */
  readonly page: string;
  readonly title: string;
  /** Other words that it is found by. */
  readonly words: string;
}

/** A guide's text by its sections, for searching. */
export type GuideText = readonly [
  page: string,
  sections: readonly (readonly [id: string, title: string, text: string])[],
];

/** Pages by what a reader wants to do. */
export interface GuideGroup {
  readonly title: string;
  readonly guides: readonly Guide[];
}

export const guideGroups: readonly GuideGroup[] = [
  {
    title: 'Start',
    guides: [
      { page: 'tutorial', title: 'Tutorial', words: 'shop app server sign in secret approval handbook two instances' },
      { page: 'getting-started', title: 'Getting started', words: 'install first run quick' },
      { page: 'migrate', title: 'Migrate from the AI SDK', words: 'streamtext usechat vercel before after move' },
      { page: 'bring-chats', title: 'Bring your chats along', words: 'import export history data move back migrate' },
      { page: 'ten-tasks', title: 'Ten tasks', words: 'compare lines ai sdk mastra langchain langgraph openai agents' },
      { page: 'playground', title: 'Playground', words: 'addresses routes back links connect model tour browser' },
      { page: 'screens', title: 'Screens', words: 'pictures screenshots look' },
      { page: 'runs', title: 'Runs', words: 'stream errors retry resume cancel' },
      { page: 'agents', title: 'Agents', words: 'settings instructions code headers silence timeouts stop' },
      {
        page: 'agent-record',
        title: 'Agent and provider records',
        words: 'fields defaults system prompt reasoning prices',
      },
      { page: 'output', title: 'Structured answers', words: 'json schema output data typed' },
      { page: 'models', title: 'Models', words: 'providers openai anthropic google sdk loop' },
      { page: 'chats', title: 'Stored chats', words: 'threads history list rename delete retention memory' },
      { page: 'caching', title: 'Prompt caching', words: 'cache prefix tokens cost break cached price' },
      { page: 'context', title: 'Long chats', words: 'context window tokens summary compaction trim limits' },
      { page: 'memory', title: 'Memory', words: 'remember person subject privacy gdpr erase delete retention' },
      { page: 'steering', title: 'Steering', words: 'message while running send interrupt queue' },
      { page: 'budgets', title: 'Fallbacks and budgets', words: 'fallback model price cost tokens money limit' },
      { page: 'schedules', title: 'Schedules and hooks', words: 'cron time zone repeat interval webhook in event' },
      { page: 'webhooks', title: 'Webhooks', words: 'notify standard webhooks signature secret retry' },
      { page: 'attachments', title: 'Attachments', words: 'image file upload pdf audio blob data url vision' },
    ],
  },
  {
    title: 'Give agents tools',
    guides: [
      { page: 'tools', title: 'Tools', words: 'http code function' },
      { page: 'tool-schemas', title: 'Tool schemas', words: 'zod valibot json schema ai sdk tool types' },
      { page: 'programs', title: 'Programs', words: 'code mode script sandbox many calls' },
      {
        page: 'trust',
        title: 'Where values are from',
        words: 'security prompt injection label source watched leak taint',
      },
      { page: 'guarded', title: 'Guarded agents', words: 'security prompt injection handles acts reader trust' },
      { page: 'approvals', title: 'Approvals', words: 'person decides allow deny' },
      { page: 'undo', title: 'Undo', words: 'take back revert roll back compensate' },
      { page: 'inbox', title: 'Inbox', words: 'waiting decide several batch change edit input approvers stream' },
      { page: 'people-compared', title: 'People and time, compared', words: 'peers langgraph mastra ai sdk openai' },
      { page: 'discovery', title: 'Discovery', words: 'find search thousands of tools' },
      { page: 'skills', title: 'Skills', words: 'SKILL.md agent skills instructions folder playbook' },
      { page: 'mcp', title: 'MCP', words: 'model context protocol servers clients' },
      { page: 'mcp-content', title: 'Resources and prompts of MCP servers', words: 'attach template completion' },
      { page: 'mcp-apps', title: 'Apps of MCP servers', words: 'ui views frames html widgets mcp-app' },
      { page: 'mcp-sign-in', title: 'Sign in to an MCP server', words: 'oauth' },
      { page: 'mcp-answers', title: 'Questions of MCP servers', words: 'elicitation forms' },
      { page: 'webmcp', title: 'WebMCP', words: 'modelContext page tools browser agent register' },
      { page: 'mcp-server', title: 'MCP server', words: 'resources prompts serve' },
      { page: 'mcp-questions', title: 'Questions to MCP clients', words: 'elicitation sessions' },
    ],
  },
  {
    title: 'Work on data',
    guides: [
      { page: 'tree', title: 'Tree', words: 'edit nodes undo' },
      { page: 'grounding', title: 'Grounding', words: 'knowledge rag retrieve cite sources' },
      { page: 'registry', title: 'Registry', words: 'records agents providers catalog' },
    ],
  },
  {
    title: 'Run many agents',
    guides: [
      { page: 'sub-agents', title: 'Sub-agents', words: 'agent as a tool delegate nested handoff' },
      { page: 'planner', title: 'Plans', words: 'planner sub-agents tasks' },
    ],
  },
  {
    title: 'Serve, observe and protect',
    guides: [
      { page: 'react', title: 'React', words: 'usechat hook transport client ai sdk' },
      { page: 'react-messages', title: 'Messages in React', words: 'parts approvals types retries localstorage store' },
      { page: 'ag-ui', title: 'AG-UI', words: 'copilotkit protocol http agent interrupt state events' },
      { page: 'node', title: 'Node', words: 'express hono server' },
      { page: 'platforms', title: 'Bun, Cloudflare, Next.js', words: 'workers durable object route handler edge' },
      { page: 'endpoint', title: 'Endpoint', words: 'http api signed routes' },
      { page: 'operations', title: 'Operations', words: 'routes openapi http scopes paths rest api' },
      { page: 'sign-in', title: 'Sign people in', words: 'oidc oauth jwt cookie session csrf cors login auth' },
      {
        page: 'callers',
        title: 'Callers and owners',
        words: 'identity subject person group actor delegation jwt token',
      },
      { page: 'sign-by-hand', title: 'Sign requests by hand', words: 'python go curl openssl certificate rfc 9421' },
      { page: 'watching', title: 'Observability', words: 'watching events metrics traces audit opentelemetry' },
      { page: 'opentelemetry', title: 'OpenTelemetry', words: 'traces spans langfuse otlp tempo jaeger sdk' },
      { page: 'errors', title: 'Errors', words: 'errors codes status retry causes onError stack debug bug' },
      { page: 'error-reasons', title: 'Reasons of errors', words: 'details.reason runs chats plans budgets remedy' },
      {
        page: 'error-reasons-tools',
        title: 'Reasons of tools',
        words: 'details.reason mcp secrets egress records tree',
      },
      {
        page: 'error-reasons-data',
        title: 'Reasons of data',
        words: 'details.reason files storage grounding endpoint',
      },
      { page: 'limits', title: 'Limits', words: 'limits defaults timeouts sizes maximum' },
      {
        page: 'endpoint-limits',
        title: 'Limits of endpoints and MCP',
        words: 'limits quotas bodies rates http mcp sessions',
      },
      { page: 'permissions', title: 'Permissions', words: 'authorize rules' },
      { page: 'egress', title: 'Egress', words: 'origins allowlist fetch_url hosts exfiltration injection network' },
      { page: 'secrets', title: 'Secrets', words: 'keys origins redaction vault' },
    ],
  },
  {
    title: 'Test and repeat',
    guides: [
      { page: 'testing', title: 'Test an app', words: 'unit tests fake mock model approvals stream' },
      { page: 'forks', title: 'Forks', words: 'time travel replay what if' },
      { page: 'recovery', title: 'Recovery', words: 'kill crash restart deploy continue resume sigterm drain lease' },
      { page: 'simulation', title: 'Simulation', words: 'faults seeds virtual time crash test invariants' },
      { page: 'evals', title: 'Evals', words: 'test cases checks judge recorded compare regression' },
    ],
  },
  {
    title: 'Operate',
    guides: [
      { page: 'cli', title: 'Command line', words: 'npx keys token request validate events' },
      {
        page: 'upgrades',
        title: 'Upgrade to a new version',
        words: 'database schema format migrate 0.2 0.3 check backup',
      },
      { page: 'deploy', title: 'Deploy', words: 'deno container server' },
      { page: 'deploy-node', title: 'Deploy on Node', words: 'postgresql container docker server issuers' },
      { page: 'scaling', title: 'Scaling', words: 'load limits simulation' },
      { page: 'etcd', title: 'State in etcd', words: 'storage raft consensus failover cluster' },
      { page: 'security', title: 'Security', words: 'threats defended report' },
    ],
  },
  {
    title: 'Extend',
    guides: [
      { page: 'entries', title: 'Entries', words: 'imports exports subpaths package' },
      { page: 'adapters', title: 'Adapters', words: 'ports storage sinks contracts' },
      { page: 'contributing', title: 'Contributing', words: 'develop tests' },
    ],
  },
  {
    title: 'About',
    guides: [
      { page: 'about', title: 'What Pinnace is', words: 'readme why architecture figures comparison' },
      { page: 'figures', title: 'Figures', words: 'bench measured bars speed peers' },
      { page: 'api', title: 'API reference', words: 'entries exports types' },
      { page: 'changelog', title: 'Changelog', words: 'versions upgrade breaking' },
    ],
  },
];
