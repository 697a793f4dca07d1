/** Tells zod, which the AI SDK brings, to interpret its schemas. Import it before anything else. */
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } });
