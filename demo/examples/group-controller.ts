/** A chat back end: it issues its own certificates, signs each request, and reads one stream. */

import { PinnaceError } from 'pinnace';
import { createClient } from 'pinnace/transport/client';
import { type CertificateIssuer, createIssuer, generateRootKey } from 'pinnace/transport/issuer';

/** The issuer: store `privateKey` as a secret, and pass `issuer.trusted` to the endpoint. */
export async function openIssuer(privateKey = generateRootKey()): Promise<CertificateIssuer> {
  return await createIssuer({ iss: 'https://chat.example', audience: 'agents', privateKey: await privateKey });
}

/** One turn of a chat: calls the agent, streams its text, and returns all of it. */
export async function askAgent(
  { issuer, url, tenant, group = 'group:42', member = 'ada', text, onText, fetch }: {
    readonly issuer: CertificateIssuer;
    readonly url: string;
    readonly tenant: string;
    /** Owns the chat, such as `group:42`: the same for all members, and after each renewal of a certificate. */
    readonly group?: string;
    /** Who speaks. */
    readonly member?: string;
    readonly text: string;
    readonly onText: (delta: string) => void;
    readonly fetch?: (request: Request) => Promise<Response>;
  },
): Promise<string> {
  const scopes = ['run:create', 'run:read', 'run:cancel'] as const;
  const claims = { subject: group, actor: member, tenant, agents: ['purser'], scopes: [...scopes] };
  const client = createClient({ url, ...await issuer.issue(claims), ...(fetch && { fetch }) });
  const messages = [{ id: 'm1', role: 'user' as const, parts: [{ type: 'text' as const, text }] }];
  try {
    // The same key returns the same run from any process: store it with the turn.
    const idempotencyKey = crypto.randomUUID();
    const stream = await client.run({ agentId: 'purser', chat: { id: 'chat-1', messages } }, { idempotencyKey });
    let answer = '';
    for await (const chunk of stream) {
      if (chunk.type !== 'text-delta') continue;
      answer += chunk.delta;
      onText(chunk.delta);
    }
    return answer;
  } catch (error) {
    if (error instanceof PinnaceError && error.retryable) return 'The agent cannot answer now: try again';
    throw error;
  }
}
