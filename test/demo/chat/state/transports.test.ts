import { describe, expect, it } from 'vitest';
import { createTransports } from '../../../../demo/chat/state/transports.ts';
import { fakeEndpoint, type FakeTransport, fakeTransport } from '../../../fixtures/page/fake-transport.ts';

function create(connect: (endpoint: string) => Promise<FakeTransport>) {
  const worker = fakeTransport();
  const asked: string[] = [];
  const connectEndpoint = async (endpoint: string) => {
    asked.push(endpoint);
    return fakeEndpoint(await connect(endpoint));
  };
  return { worker, asked, transports: createTransports({ worker, connectEndpoint, chosen: () => undefined }) };
}

const decision = ['run-1', 'apr_1', { approved: true }] as const;

describe('createTransports', () => {
  it('connects to an endpoint when it is first used, and once', async () => {
    const remote = fakeTransport();
    const { asked, transports } = create(() => Promise.resolve(remote));
    const way = transports.to('https://a.example');
    expect(asked).toEqual([]);
    await Promise.all([way.decide(...decision), way.decide(...decision)]);
    await transports.connect('https://a.example');
    expect(asked).toEqual(['https://a.example']);
    expect(remote.decided).toHaveLength(2);
  });

  it('tries again after a failure', async () => {
    let fails = true;
    const { transports } = create(() => fails ? Promise.reject(new Error('No')) : Promise.resolve(fakeTransport()));
    await expect(transports.connect('https://a.example')).rejects.toThrow('No');
    fails = false;
    await transports.connect('https://a.example');
  });
});
