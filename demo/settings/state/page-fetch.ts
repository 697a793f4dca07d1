/** Requests of the page's own window, which otherwise sends none to other hosts. */

import { reportContacts } from '../../privacy/worker/contacts.ts';

let isReported = false;

/** Sends a request and counts it for the privacy page. */
export const pageFetch: typeof fetch = async (...args) => {
  if (!isReported) reportContacts();
  isReported = true;
  return await globalThis.fetch(...args);
};
