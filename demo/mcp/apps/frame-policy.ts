/** What the frame around apps may do at most. Each app has a policy of its own within it: see `app-document.ts`. */

const own = 'http://127.0.0.1:* http://localhost:*'; // apps of servers on this machine

/** The policy of `frame.html`. Its document is inherited by the app, whose navigation `frame-src` forbids. */
export const framePolicy = [
  "default-src 'none'",
  `script-src 'unsafe-inline' https: ${own}`,
  `style-src 'unsafe-inline' https: ${own}`,
  `img-src data: blob: https: ${own}`,
  `font-src data: https: ${own}`,
  `media-src data: blob: https: ${own}`,
  `connect-src https: wss: ${own} ws://127.0.0.1:* ws://localhost:*`,
  "frame-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');
