const server = (await import('./demo/server.ts')).default;
export default {
  async fetch(req: Request) {
    void req.signal.aborted;
    return await server.fetch(req);
  },
};
