/** The worker that speaks with a Pinnace endpoint: it makes the session's key, has it certified, and signs every request. */

import { expose } from 'comlink';
import { createClient } from '../adapters/transport/client.ts';
import { exposeRuntime } from '../adapters/transport/comlink.ts';
import { toData } from '../src/errors.ts';
import { createCertificateSource } from './certificate-source.ts';
import type { EndpointControl } from './control.ts';
import { tellContacts } from './privacy/contacts.ts';
import { remoteRuntime } from './remote-runtime.ts';

tellContacts();

const control: EndpointControl = {
  async open({ url, issuer }, port) {
    try {
      const certificate = await createCertificateSource(issuer);
      exposeRuntime(remoteRuntime(createClient({ url, certificate, attempts: 3 })), port);
      return undefined;
    } catch (error) {
      return toData(error);
    }
  },
};

expose(control);
