import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { judgeAudit } from '../../tools/audit-verdict.ts';

/** What npm 11 has printed, before a registry that answers so. */
const printed = (name: string): string =>
  readFileSync(join(import.meta.dirname, `../../fixtures/npm-audit/${name}.json`), 'utf8');
const refused = 'npm error audit endpoint returned an error';

describe('judgeAudit', () => {
  it('reports vulnerabilities of high severity, and none below', () => {
    expect(judgeAudit({ status: 1, stdout: printed('holes'), stderr: '' })).toEqual({
      state: 'holes',
      holes: ['comlink (high): Prototype pollution in the example https://advisories.example/1'],
    });
  });

  it('says how many packages a clean report is about', () => {
    expect(judgeAudit({ status: 0, stdout: printed('clean'), stderr: '' })).toEqual({ state: 'clean', packages: 123 });
  });

  it.each([
    ['method-not-allowed', /^the registry offers none \(405\)$/],
    ['not-found', /^the registry offers none \(404\)$/],
    ['busy', /^the registry answers 503$/],
    ['unreachable', /^the registry cannot be asked \(.*ECONNREFUSED/],
  ])('takes no answer for a clean one: %s', (name, why) => {
    const verdict = judgeAudit({ status: 1, stdout: printed(name), stderr: refused });
    expect(verdict).toEqual({
      state: 'not audited',
      why: expect.stringMatching(why) as string,
    });
  });

  it('knows registries that say ENOAUDIT', () => {
    const stderr = 'npm error code ENOAUDIT\nnpm error Your configured registry does not support audit requests.';
    expect(judgeAudit({ status: 1, stdout: '', stderr })).toMatchObject({ why: 'the registry offers none (ENOAUDIT)' });
  });

  it.each(['', '{}', 'null', '{"auditReportVersion": 2}'])(
    'fails where npm did not reach the registry: %j',
    (stdout) => {
      const stderr = 'npm error code ENOLOCK';
      expect(() => judgeAudit({ status: 1, stdout, stderr })).toThrow('before it asked');
    },
  );
});
