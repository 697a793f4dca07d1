import { expect, it } from 'vitest';
import { askAgent, openIssuer } from '../../demo/examples/group-controller.ts';

it('the example of a Group Controller asks the example of an endpoint', async () => {
  const issuer = await openIssuer();
  Deno.env.set('ISSUERS', JSON.stringify([issuer.trusted]));
  Deno.env.set('AUTHORITIES', 'agents.example');
  Deno.env.set('KV_PATH', ':memory:');
  const { default: endpoint } = await import('../../demo/examples/deno-endpoint.ts');
  expect((await endpoint.fetch(new Request('https://agents.example/v1/readyz'))).status).toBe(200);
  expect((await endpoint.fetch(new Request('https://agents.example/v1/agents'))).status).toBe(401);
  const heard: string[] = [];
  const answer = await askAgent({
    issuer,
    url: 'https://agents.example',
    tenant: 't1',
    text: '/cabin_find {"cabin": "1"}',
    onText: (delta) => void heard.push(delta),
    fetch: (request) => endpoint.fetch(request),
  });
  expect(answer).toContain('Ada');
  expect(heard.join('')).toBe(answer);
});
