/** Loads what the runtime loads on demand: a module that loads takes real time, and virtual time would pass meanwhile. */

/** Resolves when all of it is loaded. */
export async function preload(): Promise<void> {
  await Promise.all([
    import('../runtime/model/fit-prompt.ts'),
    import('../runtime/chats/open-chats.ts'),
    import('../runtime/resolve/agent-tools.ts'),
    import('../runtime/resolve/mcp-sign-ins.ts'),
    import('../runtime/calls/ask-person.ts'),
    import('../runtime/program/programs.ts'),
    import('../runtime/forks/basis.ts'),
    import('../runtime/forks/step-notes.ts'),
    import('../runtime/forks/start-fork.ts'),
    import('../runtime/output/create-output.ts'),
    import('../runtime/attachments/open-files.ts'),
    import('../runtime/attachments/check-upload.ts'),
    import('../runtime/follow-plan.ts'),
    import('../runtime/context/summarize.ts'),
    import('../runtime/context/fit-prompt.ts'),
    import('../runtime/agent-steps.ts'),
    import('../planner/open-planner.ts'),
    import('../planner/host/runtime-planner.ts'),
    import('../events/verify-chain.ts'),
    import('../tools/builtin/code-run.ts'),
    import('../tools/builtin/current-time.ts'),
    import('../tools/builtin/calculator.ts'),
    import('../mcp/mcp-servers.ts'),
    import('../mcp/validate-server.ts'),
    import('../mcp/people.ts'),
  ]);
}
