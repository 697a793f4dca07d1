/** The programs of runs. */

export { createProgramHost } from './program-host.ts';
export { resumePrograms } from './resume.ts';
