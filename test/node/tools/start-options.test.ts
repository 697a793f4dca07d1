import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { portProblem, readStartOptions } from '../../../demo/development/start-options.ts';
import { closeServer, listen } from '../../tools/servers/http-server.ts';

describe('readStartOptions', () => {
  it('starts at 8787 with a token of its own, or as its options say', () => {
    const { token, ...others } = readStartOptions([], {}) as { token: string };
    expect(others).toEqual({ type: 'start', port: 8787, extension: undefined });
    expect(token).toMatch(/^[\da-f-]{36}$/);
    const env = { PINNACE_PORT: '8790', PINNACE_TOKEN: 'a-token-for-tests', PINNACE_EXTENSION: 'tools.ts' };
    expect(readStartOptions([], env)).toEqual({
      type: 'start',
      port: 8790,
      token: 'a-token-for-tests',
      extension: 'tools.ts',
    });
    expect(readStartOptions(['--port=8791'], env)).toMatchObject({ port: 8791 });
  });

  it.each([['--help'], ['-h']])('returns the usage: %s', (flag) => {
    const told = readStartOptions([flag], {});
    expect(told).toMatchObject({ type: 'help', text: expect.stringContaining('PINNACE_PORT') as string });
  });

  it.each([[['--prot=1'], "'--prot'"], [['8790'], "'8790'"], [['--port'], '--port']])(
    'says what is wrong with %j, and how it is used',
    (args, named) => {
      const told = readStartOptions(args, {});
      expect(told).toMatchObject({ type: 'wrong', text: expect.stringContaining(named) as string });
      expect(told).toMatchObject({ text: expect.stringContaining('npm start -- --help') as string });
    },
  );

  it.each([['short'], [''], ['fifteen-letters'], ['a token with spaces in it'], ['x'.repeat(257)]])(
    'says in one line why it cannot take the token %j, and does not print it',
    (token) => {
      const told = readStartOptions([], { PINNACE_TOKEN: token });
      expect(told).toMatchObject({ type: 'wrong', text: expect.stringMatching(/^PINNACE_TOKEN [^\n]+$/) as string });
      if (token !== '') expect(JSON.stringify(told)).not.toContain(token);
    },
  );

  it.each(['', 'http', '0', '65536', '80.5', '-1'])('knows no port %j', (port) => {
    expect(readStartOptions([], { PINNACE_PORT: port })).toMatchObject({ type: 'wrong' });
  });
});

describe('portProblem', () => {
  it('says that a port is taken, and nothing of one that is free', async () => {
    const server = createServer();
    const port = Number(new URL(await listen(server)).port);
    expect(await portProblem(port)).toContain(`Port ${port} is taken`);
    await closeServer(server);
    expect(await portProblem(port)).toBeUndefined();
  });
});
