import { describe, expect, it } from 'vitest';
import { continued, person, signInWorld } from '../../fixtures/mcp/oauth-peer.ts';
import { lastData } from '../../fixtures/runtime.ts';

describe('a sign-in to an MCP server', () => {
  it('is asked for by the run that needs it, and lets the chat go on with the call', async () => {
    const world = await signInWorld();
    await world.prepare();
    const bob = person('bob');
    const waiting = await world.run({}, bob);
    expect(waiting.some(({ type }) => type === 'tool-output-error')).toBe(false);
    expect(lastData(waiting, 'data-interruption')).toMatchObject({
      kind: 'sign_in',
      server: { id: 'docs', alias: 'docs', host: 'mcp.example.com' },
      signIn: { issuerHost: 'login.example.com', scopes: ['read'] },
    });
    expect(waiting.at(-1)).toMatchObject({ type: 'finish' });
    expect(world.oauth.peer.of('tools/call')).toHaveLength(0);
    await world.signIn(bob, { interruptionId: String(lastData(waiting, 'data-interruption')['id']) });
    const after = await world.run(continued(waiting), bob);
    expect(after.find(({ type }) => type === 'tool-output-available')).toMatchObject({
      output: { content: [{ type: 'text', text: 'hello' }] },
    });
    expect(world.oauth.peer.of('tools/call')).toHaveLength(1);
  });
});
