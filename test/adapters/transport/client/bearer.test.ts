import { describe, expect, it } from 'vitest';
import { createClient } from '../../../../adapters/transport/client.ts';
import { createHandler } from '../../../../adapters/transport/http.ts';
import { createPrincipal, PinnaceError } from '../../../../src/index.ts';
import { says, scriptedModel } from '../../../fixtures/model.ts';
import { readAll, runRequest, terminalChunks, testRuntime, textOf } from '../../../fixtures/runtime.ts';

const words = Array.from({ length: 40 }, (_, i) => `w${i} `);

/** An endpoint that takes one token at a time, and a client whose page renews it. */
function setUp({ cutAfter = Infinity }: { readonly cutAfter?: number } = {}) {
  let current = 'token-1';
  let cuts = 0;
  const asked: (string | undefined)[] = [];
  const authenticator = {
    authenticate(request: Request) {
      if (request.headers.get('authorization') !== `Bearer ${current}`) {
        throw new PinnaceError('token_expired', 'The token has expired');
      }
      const scopes = ['run:create', 'run:read'] as const;
      return Promise.resolve(createPrincipal({ via: 'http', tenant: 't', subject: 'ada', agents: '*', scopes }));
    },
  };
  const { model } = scriptedModel(says(...words), says(...words), says(...words));
  const handle = createHandler(testRuntime({ model }), { authenticator });
  const sent: string[] = [];
  const fetch = async (request: Request): Promise<Response> => {
    const answer = await handle(request);
    sent.push(
      `${request.method} ${answer.status} ${request.headers.get('last-event-id') === null ? '' : 'resumes'}`.trim(),
    );
    if (answer.body === null || cuts > 0 || cutAfter === Infinity || !answer.ok) return answer;
    cuts++;
    current = 'token-2'; // the token ends while the stream is read
    const text = (await answer.text()).slice(0, cutAfter);
    return new Response(text, { status: answer.status, headers: answer.headers });
  };
  return {
    asked,
    sent,
    fetch,
    expire: (next: string) => void (current = next),
    clientWith: (bearer: string | ((rejected?: string) => string | Promise<string>)) =>
      createClient({ url: 'https://agents.example', credentials: { bearer }, fetch, random: () => 0 }),
  };
}

describe('a token that the endpoint refuses', () => {
  it('is asked for once again, with the refused one, and the request is repeated', async () => {
    const { asked, sent, expire, clientWith } = setUp();
    let token = 'token-1';
    const client = clientWith((rejected) => {
      asked.push(rejected);
      return token = rejected === token ? 'token-2' : token;
    });
    await readAll(await client.run(runRequest()));
    expire('token-2');
    expect(textOf(await readAll(await client.run(runRequest())))).toBe(words.join(''));
    expect(asked).toEqual([undefined, undefined, 'token-1']);
    expect(sent).toEqual(['POST 200', 'POST 401', 'POST 200']);
  });

  it('is renewed once for all requests that wait for it', async () => {
    const { asked, expire, clientWith } = setUp();
    expire('token-2');
    const client = clientWith(async (rejected) => {
      if (rejected !== undefined) asked.push(rejected);
      await Promise.resolve();
      return rejected === undefined ? 'token-1' : 'token-2';
    });
    await Promise.all([1, 2, 3].map(async () => await readAll(await client.run(runRequest()))));
    expect(asked).toEqual(['token-1']);
  });

  it.each<[string, string | ((rejected?: string) => string), string[]]>([
    ['a text', 'old', ['POST 401']],
    ['a function that has no other', () => 'old', ['POST 401']],
    ['a function whose next is refused too', (rejected) => rejected === undefined ? 'old' : 'older', [
      'POST 401',
      'POST 401',
    ]],
  ])('ends the request where it is of %s', async (_, bearer, expected) => {
    const { sent, clientWith } = setUp();
    await expect(clientWith(bearer).run(runRequest())).rejects.toMatchObject({ code: 'token_expired', status: 401 });
    expect(sent).toEqual(expected);
  });

  it('lets a stream go on where it was', async () => {
    const { sent, clientWith } = setUp({ cutAfter: 1500 });
    const client = clientWith((rejected) => rejected === undefined ? 'token-1' : 'token-2');
    const chunks = await readAll(await client.run(runRequest()));
    expect(textOf(chunks)).toBe(words.join(''));
    expect(terminalChunks(chunks)).toMatchObject([{ type: 'finish' }]);
    expect(sent).toEqual(['POST 200', 'GET 401 resumes', 'GET 200 resumes']);
  });
});
