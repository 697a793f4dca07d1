/** Keeps WebAssembly out of the page: pdf.js has it for the colors of pictures, which nothing here draws. */

import type { Plugin } from 'vite';

/** The reader of PDF without the parts that it is told not to use (`useWasm: false`). */
export function noWebAssembly(): Plugin {
  return {
    name: 'no-web-assembly',
    transform: {
      filter: { id: /[\\/]unpdf[\\/]dist[\\/]pdfjs\.mjs$/ },
      handler: (code) => ({ code: code.replaceAll('WebAssembly', 'undefined'), map: null }),
    },
  };
}
