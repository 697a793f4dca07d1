/** The tools that this page registers, for agents of the worker. */

import { servePageTools } from '../../../adapters/webmcp/page.ts';
import type { Playground } from '../../app/state/playground.ts';

/** Connects the worker to the page's tools for as long as the page is open. */
export async function connectPageTools({ connectPage }: Playground['webmcp']): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  servePageTools(port1);
  await connectPage(port2);
}
