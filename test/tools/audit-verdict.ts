/** What the output of `npm audit --json --audit-level=high` means. */

import * as v from 'valibot';

/** What is known of the packages, or why nothing is. */
export type AuditVerdict =
  | { readonly state: 'clean'; readonly packages: number }
  | { readonly state: 'holes'; readonly holes: readonly string[] }
  | { readonly state: 'not audited'; readonly why: string };

/** How npm ended, and what it wrote. */
interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const Via = v.union([v.string(), v.object({ title: v.string(), url: v.optional(v.string()) })]);
const Report = v.object({
  auditReportVersion: v.number(),
  vulnerabilities: v.record(v.string(), v.object({ severity: v.string(), via: v.array(Via) })),
  metadata: v.object({ dependencies: v.object({ prod: v.number() }) }),
});
/** The output of npm when the registry did not answer. */
const Refusal = v.object({
  statusCode: v.optional(v.number()),
  message: v.optional(v.string()),
});

/** The registry has no audits. */
const noSuchThing = [404, 405, 501];

/** Returns the verdict. Throws if npm failed before it called the registry, so that this does not count as a clean report. */
export function judgeAudit({ status, stdout, stderr }: Ended): AuditVerdict {
  const answer = parsed(stdout);
  const report = v.safeParse(Report, answer);
  if (report.success) return verdictOf(report.output);
  const refusal = v.safeParse(Refusal, answer);
  const { statusCode, message = '' } = refusal.success ? refusal.output : {};
  const offersNone = /ENOAUDIT|does not support audit/i.test(`${stderr} ${message}`);
  if (offersNone || (statusCode !== undefined && noSuchThing.includes(statusCode))) {
    return { state: 'not audited', why: `the registry offers none (${statusCode ?? 'ENOAUDIT'})` };
  }
  if (statusCode !== undefined) return { state: 'not audited', why: `the registry answers ${statusCode}` };
  if (stderr.includes('audit endpoint returned an error')) {
    return { state: 'not audited', why: `the registry cannot be asked (${message})` };
  }
  throw new Error(`npm audit ended with ${String(status)} before it asked: ${(message || stderr).slice(0, 300)}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

function verdictOf({ vulnerabilities, metadata }: v.InferOutput<typeof Report>): AuditVerdict {
  const grave = Object.entries(vulnerabilities).filter(([, { severity }]) =>
    severity === 'high' || severity === 'critical'
  );
  if (grave.length === 0) return { state: 'clean', packages: metadata.dependencies.prod };
  const holes = grave.map(([name, { severity, via }]) => {
    const why = via.map((one) =>
      typeof one === 'string' ? `by ${one}` : [one.title, one.url].filter(Boolean).join(' ')
    );
    return `${name} (${severity}): ${why.join('; ')}`;
  });
  return { state: 'holes', holes };
}
