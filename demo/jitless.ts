/** Configures zod, a dependency of the AI SDK, to interpret its schemas. Import it before anything else. */
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } });
