/** An MCP server of the SDK whose tool asks before it answers: a form, an address to open, or for what no form may ask. */

import { createServer } from 'node:http';
import { inputRequired, Server as McpServer } from '@modelcontextprotocol/server';
import { closeServer, corsHeaders, listen, type TestServer } from './http-server.ts';
import { mcpListener } from './mcp-listener.ts';

export interface QuestionServer extends TestServer {
  readonly answers: readonly unknown[];
}

const form = {
  message: 'Which berth do you want?',
  requestedSchema: {
    type: 'object' as const,
    properties: {
      name: { type: 'string' as const, title: 'Name of the boat', minLength: 2 },
      length: { type: 'integer' as const, title: 'Length', description: 'In meters', minimum: 1, default: 9 },
      side: { type: 'string' as const, title: 'Side', enum: ['port', 'starboard'] },
      power: { type: 'boolean' as const, title: 'With power', default: true },
    },
    required: ['name', 'side'],
  },
};
const secret = {
  message: 'Your password?',
  requestedSchema: { type: 'object' as const, properties: { password: { type: 'string' as const } } },
};
const address = { message: 'Pay for the berth', url: 'https://pay.xn--bcher-kva.example/berth?id=7' };

/** Starts it; its tool `ask` takes what to ask. */
export async function startQuestionServer(): Promise<QuestionServer> {
  const answers: unknown[] = [];
  const http = createServer();
  const url = await listen(http);
  const serve = mcpListener(() => questionServer(answers));
  http.on('request', (request, response) => {
    for (const [name, value] of Object.entries(corsHeaders)) response.setHeader(name, value);
    if (request.method === 'OPTIONS') response.writeHead(204).end();
    else serve(request, response);
  });
  return { url: `${url}/mcp`, answers, close: () => closeServer(http) };
}

function questionServer(answers: unknown[]): McpServer {
  const server = new McpServer({ name: 'harbor', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({
    tools: [{
      name: 'ask',
      description: 'Books a berth.',
      inputSchema: { type: 'object', properties: { what: { type: 'string' } }, required: ['what'] },
      annotations: { readOnlyHint: true },
    }],
  }));
  server.setRequestHandler('tools/call', ({ params: { arguments: given } }, { mcpReq: { inputResponses } }) => {
    if (inputResponses === undefined) {
      const what = given?.['what'];
      const question = what === 'address'
        ? inputRequired.elicitUrl(address)
        : inputRequired.elicit(what === 'secret' ? secret : form);
      return inputRequired({ inputRequests: { berth: question }, requestState: 'state of the server' });
    }
    answers.push(inputResponses['berth']);
    const { action } = inputResponses['berth'] as { readonly action: string }; // the answer to its own question
    return { content: [{ type: 'text', text: `The harbor heard: ${action}` }] };
  });
  return server;
}
