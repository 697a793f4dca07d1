/** The peer of the cold start: a server of one route with the router that the endpoint uses. */

import { Hono } from 'hono';

const app = new Hono();
app.get('*', (context) => context.text('ok'));

export default { fetch: app.fetch };
