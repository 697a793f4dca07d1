/** The worker that speaks with a Pinnace endpoint: it makes the session's key, has it certified, and signs every request. */

import { expose } from 'comlink';
import { type Client, createClient } from '../../../adapters/transport/client.ts';
import { exposeRuntime } from '../../../adapters/transport/comlink.ts';
import { PinnaceError, toData } from '../../../src/base/errors.ts';
import { createCertificateSource } from './certificate-source.ts';
import { createConsoleHost } from '../../runs/worker/server-host.ts';
import type { EndpointControl } from '../../control/page-control.ts';
import { readRemoteRun } from '../../runs/worker/remote-run.ts';
import { reportContacts } from '../../privacy/worker/contacts.ts';
import { remoteRuntime } from './remote-runtime.ts';

reportContacts();

const clients = new Map<string, Client>();
let looking = new AbortController();

function leaveRun(): void {
  looking.abort();
  looking = new AbortController();
}

const control: EndpointControl = {
  async open({ url, issuer }, port) {
    try {
      const certificate = await createCertificateSource(issuer);
      const client = createClient({ url, certificate, attempts: 3 });
      clients.set(url, client);
      exposeRuntime(remoteRuntime(client), port);
      return undefined;
    } catch (error) {
      return toData(error);
    }
  },
  async run(url, requested, onNews) {
    leaveRun();
    const { signal } = looking;
    try {
      const client = clients.get(url);
      if (!client) throw new PinnaceError('unavailable', 'Cannot show the run: the endpoint is not connected');
      return { ok: true, value: await readRemoteRun(client, { ...requested, onNews, signal }) };
    } catch (error) {
      return { ok: false, error: toData(error) };
    }
  },
  leaveRun,
  async openConsole(url, port) {
    const client = clients.get(url);
    if (client) expose(createConsoleHost(client), port);
    return client ? undefined : toData(new PinnaceError('unavailable', 'The endpoint is not connected'));
  },
};

expose(control);
