import { defineConfig } from 'vite';

export default defineConfig({
  base: './', // the page runs at any path
  worker: { format: 'es' }, // the agent's worker loads parts of its code when it needs them
  // Vite does not look into workers: without this, it finds their packages during the first message and reloads the page.
  optimizeDeps: { entries: ['index.html', 'src/worker.ts'] },
  resolve: { // `useChat` runs on Preact
    alias: [
      { find: /^react$/, replacement: 'preact/compat' },
      { find: /^react\/jsx-runtime$/, replacement: 'preact/jsx-runtime' },
      { find: /^react-dom$/, replacement: 'preact/compat' },
    ],
  },
});
