/**
 * Writes, beside the built page, whose work is in it: the licences of every package that may be bundled, and an SBOM (CycloneDX
 * 1.5), both out of the lock file. A package without a licence that we know to be compatible ends the build.
 */

import { Buffer } from 'node:buffer';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const output = join(root, 'dist-demo');

/** A package as the lock file has it. */
interface Locked {
  readonly version: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  readonly packages: Readonly<Record<string, Locked>>;
};
/** Licences that may be bundled. */
const known = new Set([
  'MIT',
  'ISC',
  'Apache-2.0',
  'CC0-1.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'BlueOak-1.0.0',
  'Unlicense',
]);

/** The packages of the page and its workers, by their path in `node_modules`: those that their source maps name. */
function bundled(): string[] {
  const assets = join(output, 'assets');
  const sources = readdirSync(assets).filter((name) => name.endsWith('.map')).flatMap((name) =>
    (JSON.parse(read(join(assets, name))) as { readonly sources: readonly string[] }).sources
  );
  const places = sources.flatMap((source) =>
    /node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(source) ?? []
  );
  const found = new Set(places.filter((place) => place in packages));
  if (found.size === 0) throw new Error('The page names no packages: build it with source maps');
  return [...found].toSorted();
}

/** Where a package finds what it depends on: inside itself, or at the top. */
function needsOf(place: string): string[] {
  return Object.keys(packages[place]?.dependencies ?? {}).map((name) => {
    const own = `${place}/node_modules/${name}`;
    return own in packages ? own : `node_modules/${name}`;
  });
}

function nameOf(place: string): string {
  return place.split('node_modules/').at(-1) ?? place;
}

function licenseOf(place: string): string {
  const license = packages[place]?.license ?? '';
  if (license.replace(/[()]/g, '').split(' OR ').some((one) => known.has(one))) return license;
  throw new Error(`${nameOf(place)} has the licence "${license}": look whether it may be bundled`);
}

function noticeOf(place: string): string {
  const folder = join(root, place);
  const license = licenseOf(place);
  const file = readdirSync(folder).find((entry) => /^(?:licen[cs]e|copying)(?:\.|$)/i.test(entry));
  const text = file === undefined ? `(${license}; the package has no text of it)` : read(join(folder, file));
  const notice = existsSync(join(folder, 'NOTICE')) ? `\n\n${read(join(folder, 'NOTICE'))}` : '';
  return `## ${nameOf(place)} ${packages[place]?.version} (${license})\n\n${text}${notice}\n`;
}

function read(file: string): string {
  return readFileSync(file, 'utf8').trim();
}

function refOf(place: string): string {
  return `pkg:npm/${nameOf(place).replace('@', '%40')}@${packages[place]?.version}`;
}

function componentOf(place: string): unknown {
  const [algorithm = '', digest = ''] = packages[place]?.integrity?.split('-', 2) ?? [];
  const content = Buffer.from(digest, 'base64').toString('hex');
  return {
    'type': 'library',
    'bom-ref': refOf(place),
    'name': nameOf(place),
    'version': packages[place]?.version,
    'purl': refOf(place),
    'licenses': [{ expression: licenseOf(place).replace(/^\(|\)$/g, '') }],
    ...(content !== '' && { hashes: [{ alg: algorithm.replace('sha', 'SHA-'), content }] }),
  };
}

/** npm's own (`npm sbom`) leaves out, with `--omit=dev`, whatever development needs, too; without it, it wants no peer amiss. */
function sbomOf(places: readonly string[]): unknown {
  const { version } = packages[''] ?? { version: '' };
  const ref = `pkg:npm/pinnace@${version}`;
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: { 'type': 'library', 'bom-ref': ref, 'name': 'pinnace', version, 'purl': ref } },
    components: places.map(componentOf),
    dependencies: [
      { ref, dependsOn: places.map(refOf) },
      ...places.map((place) => ({
        ref: refOf(place),
        dependsOn: needsOf(place).filter((need) => places.includes(need)).map(refOf),
      })),
    ],
  };
}

/** A package that is installed twice counts once. */
const places = [...new Map(bundled().map((place) => [refOf(place), place])).values()];
const title = '# Licences of the packages that are bundled with Pinnace\n\n';
writeFileSync(join(output, 'licenses.txt'), title + places.map(noticeOf).join('\n'));
writeFileSync(join(output, 'sbom.cdx.json'), `${JSON.stringify(sbomOf(places), null, 2)}\n`);
console.log(`${places.length} licences`);
