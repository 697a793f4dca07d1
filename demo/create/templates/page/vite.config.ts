import { defineConfig } from 'vite';

export default defineConfig({
  base: './', // the page runs at any path
  worker: { format: 'es' }, // the agent's worker loads parts of its code when it needs them
  resolve: { // `useChat` runs on Preact
    alias: [
      { find: /^react$/, replacement: 'preact/compat' },
      { find: /^react\/jsx-runtime$/, replacement: 'preact/jsx-runtime' },
      { find: /^react-dom$/, replacement: 'preact/compat' },
    ],
  },
});
