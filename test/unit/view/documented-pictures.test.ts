/** The pictures of the documentation are legible wherever they are shown. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PAGE_PX, TEXT_PX } from '../../../src/view/chart/chart-pictures.ts';
import { PROJECT } from '../../tidy/source-file.ts';

const picturesIn = (folder: string) =>
  readdirSync(`${PROJECT}${folder}`).filter((name) => name.endsWith('.svg'))
    .map((name) => [`${folder}/${name}`] as const);

const PICTURES = [...picturesIn('docs/lifecycles'), ...picturesIn('docs/pictures')];

const read = (path: string): string => readFileSync(`${PROJECT}${path}`, 'utf8');

/** Rules outside of media queries: programs such as librsvg read nothing else. */
const plainStyle = (svg: string): string =>
  [...svg.matchAll(/<style>([^]*?)<\/style>/g)].map(([, style = '']) => style).join('\n')
    .replaceAll(/@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}/g, '');

test('there are pictures', () => expect(PICTURES.length).toBeGreaterThan(20));

test.each(PICTURES)('%s needs neither variables nor a colour around it', (path) => {
  expect(read(path)).not.toMatch(/var\(|currentColor|light-dark\(/);
});

test.each(PICTURES)('%s has a literal colour for its text', (path) => {
  expect(plainStyle(read(path))).toMatch(/text\s*\{[^}]*fill:#[0-9a-f]{6}/);
});

test.each(PICTURES)('%s shows its text without animation', (path) => {
  expect(plainStyle(read(path)).replaceAll(/@keyframes \w+\{(?:[^{}]*\{[^{}]*\})*\}/g, ''))
    .not.toMatch(/opacity:0[;}]/);
});

test.each(PICTURES)('%s has legible text on a page', (path) => {
  const svg = read(path);
  const width = Number(/<svg[^>]*? width="([\d.]+)"/.exec(svg)?.[1]);
  const sizes = [...svg.matchAll(/font-size="([\d.]+)"|font:(?:\d+ )?([\d.]+)px/g)]
    .map(([, attribute, style]) => Number(attribute ?? style));
  expect(sizes.length).toBeGreaterThan(0);
  expect(Math.min(...sizes) * Math.min(1, PAGE_PX / width)).toBeGreaterThanOrEqual(TEXT_PX);
});
