import { defineConfig } from 'vite';

export default defineConfig({
  base: './', // the page runs at any path
  worker: { format: 'es' }, // the agent's worker loads parts of its code when it needs them
});
