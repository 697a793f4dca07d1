import { describe, expect, it, onTestFinished } from 'vitest';
import { type ConnectedRuntime, connectRuntime, exposeRuntime } from '../../../adapters/transport/comlink.ts';
import { type HostedRuntime, localPrincipal, readOutput, type Runtime } from '../../../src/index.ts';
import { says, scriptedModel, stallingStream } from '../../fixtures/model.ts';
import { readAll, runRequest, testRuntime, textOf, userMessage } from '../../fixtures/runtime.ts';

/** Both ends of a real message channel. */
function connect(runtime: Runtime): ConnectedRuntime {
  const { port1, port2 } = new MessageChannel();
  exposeRuntime(runtime, port1);
  onTestFinished(() => {
    port1.close();
    port2.close();
  });
  return connectRuntime(port2);
}

const stalled = () => scriptedModel(() => stallingStream(says('Hel').slice(0, 3)));

describe('connectRuntime', () => {
  it('rejects every call of a worker that did not start, also those that wait already', async () => {
    const worker = Object.assign(new EventTarget(), { postMessage: () => undefined });
    const connected = connectRuntime(worker);
    const waiting = connected.manifest('helper', localPrincipal());
    worker.dispatchEvent(new Event('error'));
    const failure = { code: 'unavailable', retryable: false, details: { reason: 'worker_failed' } };
    await expect(waiting).rejects.toMatchObject(failure);
    await expect(connected.run(runRequest(), localPrincipal())).rejects.toMatchObject(failure);
  });

  it('continues after an error that the worker reports later', async () => {
    const { port1, port2 } = new MessageChannel();
    onTestFinished(() => port1.close());
    exposeRuntime(testRuntime(scriptedModel(says('Hello'))), port1);
    const worker = Object.assign(new EventTarget(), { port: port2 }); // a shared worker's
    const connected = connectRuntime(worker);
    await connected.manifest('helper', localPrincipal());
    worker.dispatchEvent(new Event('error'));
    expect(textOf(await readAll(await connected.run(runRequest(), localPrincipal())))).toBe('Hello');
  });

  it('reads stored files of the other side', async () => {
    const runtime = testRuntime(scriptedModel(says('ok')));
    const { url } = await runtime.blobs.put(new TextEncoder().encode('a,b'), 'text/csv', localPrincipal());
    const connected = connect(runtime);
    const file = await connected.readFile(url);
    expect([file.type, await file.text()]).toEqual(['text/csv', 'a,b']);
    await expect(connected.readFile('unknown')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('asks for the structured answer that the body names, and refuses one that is none', async () => {
    const connected = connect(testRuntime(scriptedModel(says('{"city":"Oslo"}'))));
    const send = (output: unknown) =>
      connected.sendMessages({
        trigger: 'submit-message',
        chatId: 'c1',
        messageId: undefined,
        messages: [userMessage('Where?')],
        abortSignal: undefined,
        body: { agentId: 'helper', output },
      });
    expect(await readOutput(await send({ schema: { required: ['city'] } }))).toEqual({ city: 'Oslo' });
    await expect(send('JSON')).rejects.toMatchObject({ code: 'invalid_argument' });
  });

  it('shows what happens on the other side, until the watcher leaves', async () => {
    const connected = connect(testRuntime(scriptedModel(says('hi'))));
    const stop = new AbortController();
    const events = await connected.events({ filter: { target: 'helper' }, after: 0, signal: stop.signal });
    await readAll(await connected.run(runRequest(), localPrincipal()));
    const reader = events.getReader();
    const first = await reader.read();
    expect(first.value).toMatchObject({ seq: 1, event: { action: 'run.start', target: { id: 'helper' } } });
    reader.releaseLock();
    stop.abort();
    const rest = await readAll(events);
    expect(rest.every(({ event }) => event.target.id === 'helper')).toBe(true);
  });

  it('rejects where the worker emits no events', async () => {
    const silent: Runtime & Partial<Pick<HostedRuntime, 'events'>> = { ...testRuntime(scriptedModel(says('hi'))) };
    delete silent.events;
    await expect(connect(silent).events()).rejects.toMatchObject({ code: 'unavailable', retryable: false });
  });

  it('stops a run that is read on when the signal aborts', async () => {
    const connected = connect(testRuntime(stalled()));
    const reader = (await connected.run(runRequest(), localPrincipal())).getReader();
    const { value } = await reader.read();
    const { value: second } = await reader.read();
    const { id } = [value, second].find((chunk) => chunk?.type === 'data-run') as { id: string }; // safe: it is among the first
    await reader.cancel('coming_back');
    const stream = await connected.resume(id, 2, { principal: localPrincipal(), signal: AbortSignal.abort('enough') });
    expect((await readAll(stream)).at(-1)).toMatchObject({ type: 'abort' });
  });

  it('refuses a run whose signal has aborted before', async () => {
    const connected = connect(testRuntime(scriptedModel(says('hi'))));
    const run = connected.run(runRequest(), localPrincipal(), { signal: AbortSignal.abort() });
    await expect(run).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('returns the manifest and closes the runtime', async () => {
    const connected = connect(testRuntime(scriptedModel(says('hi'))));
    expect(await connected.manifest('helper', localPrincipal())).toMatchObject({ agentId: 'helper' });
    await connected.close();
    await expect(connected.run(runRequest(), localPrincipal())).rejects.toMatchObject({ code: 'unavailable' });
  });
});
